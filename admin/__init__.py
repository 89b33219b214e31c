"""What an org's admins decide: policy, registered clients, and identity providers with their claim rules."""
