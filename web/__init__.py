"""How a reply is spoken: errors, shapes, pages' frame, headers and the description of the API."""
