"""Who gets past the guard of every route: this table is the specification.

`api` rows: an assistant of the owner, then programs of the owner, the lead, the reviewer and the admin. `page` rows:
browsers of the owner, the lead, the reviewer and the admin. `pass` is past the guard, whatever comes then; `403` is
not. Without a credential every one of them is answered 401, or led to the sign-in. `public` asks nobody.
"""

API_ACTORS = "assistant owner lead reviewer admin"
PAGE_ACTORS = "owner lead reviewer admin"
ROUTES = """
GET    /                                              public
GET    /login                                         public
GET    /login/start                                   public
GET    /login/callback                                public
POST   /logout/backchannel                            public
POST   /theme                                         public
GET    /healthz                                       public
GET    /readyz                                        public
GET    /v1/openapi.json                               public
GET    /.well-known/oauth-protected-resource/v1       public
GET    /static/<path:filename>                        public

GET    /v1/prompt                                     api   pass pass pass pass pass
GET    /v1/memory/block                               api   pass pass pass pass pass
PUT    /v1/memory/block                               api   pass pass pass pass pass
DELETE /v1/memory/block                               api   403  pass pass pass pass
PUT    /v1/memory/switch                              api   403  pass pass pass pass
GET    /v1/memory/changes                             api   pass pass pass pass pass
GET    /v1/org/policy                                 api   403  403  403  403  pass
PUT    /v1/org/policy                                 api   403  403  403  403  pass
GET    /v1/org/clients                                api   403  403  403  403  pass
PUT    /v1/org/clients                                api   403  403  403  403  pass
POST   /v1/org/clients/<uuid:record_id>/revoke        api   403  403  403  403  pass
POST   /v1/org/clients/<uuid:record_id>/replace       api   403  403  403  403  pass
GET    /v1/org/providers                              api   403  403  403  403  pass
PUT    /v1/org/providers                              api   403  403  403  403  pass
POST   /v1/org/providers/<uuid:provider_id>/disconnect  api  403  403  403  403  pass
POST   /v1/org/providers/test                         api   403  403  403  403  pass
POST   /v1/org/providers/preview                      api   403  403  403  403  pass

POST   /logout                                        page  pass pass pass pass
GET    /settings/memory                               page  pass pass pass pass
POST   /settings/memory                               page  pass pass pass pass
POST   /settings/memory/switch                        page  pass pass pass pass
GET    /settings/memory/clear                         page  pass pass pass pass
POST   /settings/memory/clear                         page  pass pass pass pass
POST   /settings/memory/changes/take-back             page  pass pass pass pass
POST   /settings/memory/changes/forget                page  pass pass pass pass
GET    /settings/sessions                             page  pass pass pass pass
POST   /settings/sessions/<uuid:session_id>/end       page  pass pass pass pass
POST   /settings/sessions/end-everywhere              page  pass pass pass pass
GET    /admin                                         page  403  403  403  pass
GET    /admin/policy                                  page  403  403  403  pass
POST   /admin/policy                                  page  403  403  403  pass
GET    /admin/clients                                 page  403  403  403  pass
POST   /admin/clients                                 page  403  403  403  pass
GET    /admin/clients/<uuid:record_id>                page  403  403  403  pass
POST   /admin/clients/<uuid:record_id>                page  403  403  403  pass
POST   /admin/clients/<uuid:record_id>/replace        page  403  403  403  pass
GET    /admin/clients/<uuid:record_id>/revoke         page  403  403  403  pass
POST   /admin/clients/<uuid:record_id>/revoke         page  403  403  403  pass
POST   /admin/clients/<uuid:record_id>/revive         page  403  403  403  pass
GET    /admin/identity                                page  403  403  403  pass
POST   /admin/identity                                page  403  403  403  pass
POST   /admin/identity/test                           page  403  403  403  pass
GET    /admin/identity/<uuid:provider_id>             page  403  403  403  pass
POST   /admin/identity/<uuid:provider_id>             page  403  403  403  pass
POST   /admin/identity/<uuid:provider_id>/secret      page  403  403  403  pass
POST   /admin/identity/<uuid:provider_id>/reconnect   page  403  403  403  pass
GET    /admin/identity/<uuid:provider_id>/sign-in     page  403  403  403  pass
POST   /admin/identity/<uuid:provider_id>/sign-in     page  403  403  403  pass
GET    /admin/identity/<uuid:provider_id>/disconnect  page  403  403  403  pass
POST   /admin/identity/<uuid:provider_id>/disconnect  page  403  403  403  pass
GET    /admin/identity/<uuid:provider_id>/rules       page  403  403  403  pass
POST   /admin/identity/<uuid:provider_id>/rules       page  403  403  403  pass
"""


def expected_routes() -> dict[tuple[str, str], tuple[str, list[str]]]:
    """Return each route's door and what each actor meets, by method and rule."""
    rows = [line.split() for line in ROUTES.splitlines() if line]
    return {(method, rule): (door, cells) for method, rule, door, *cells in rows}
