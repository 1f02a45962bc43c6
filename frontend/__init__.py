"""Pages: what people see and do in a browser, and the documentation.

What it is for. Pages translate, and decide nothing. They know who asks and what time it is, make
one call of an action or a query, and show what came back. They import no models (a contract).

Flow of a request, in order:

1. `urls.py` chooses the view. Most addresses name an organization, and many a project.
2. `views/base.py: member()` wraps the view. It turns the browser's session into a `Caller`, enters
   the organization, and makes the `Frame` that stands around the content. A refusal becomes a page
   or a toast that says what to do.
3. The view, in the module of its subject in `views/`, reads the form, makes its call, and ends with
   `base.page()`, `base.dialog()` or `base.done()`.
4. A module of `presenters/` makes of what was returned what the template draws, where the template
   cannot do that by itself. `labels.py` has the names of stored values in the reader's language.
5. `templates/pages/` are whole pages, and `templates/partials/` the parts that htmx replaces.

While a page is open, `consumers.py` tells it what changed: the socket says which rows changed, and
sends them rendered for the person who looks.

Decisions.
- Pages are made on the server; dialogs and forms work without scripts as well.
- Inline scripts and styles are forbidden by the content security policy (`middleware.py`), so
  drawings are SVG with attributes (`presenters/html.py`).
- Text is English in the sources and translated by catalogs (`locale/`); a refusal keeps its
  template and values, so that it is translated too (`presenters/refusals.py`).
- The documentation is Markdown in `docs/`, rendered by `presenters/doc_pages.py`. Tests compare it
  with the settings, errors, types, calls and files that it names.

Start reading at `views/base.py`, then `views/inbox.py` with `presenters/review_inbox.py`.
"""
