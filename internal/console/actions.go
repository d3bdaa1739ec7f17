package console

import (
	"context"
	"net/http"
	"net/url"
	"strings"
)

// action is a change that the form of a page asks for. It is done as the user, by a function of internal/ops.
type action struct {
	path string
	do   func(ctx context.Context, q *query) (done, error)
	// form is the page that the form is on, relative to the path, where that is a posted view: it answers with all that the form said, which no address may have.
	form string
}

// done is what came of an action.
type done struct {
	// Notice is shown on the next page.
	Notice string
	// To is the address of that page, of this console; empty is the page that the form was on.
	To string
}

// formKey is the field that the forms of a page carry.
const formKey = "form"

// act answers a form: the change is done, and the browser is sent to a page.
func (c *Console) act(a action) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q, err := c.posted(r)
		if err != nil {
			c.failForm(w, r, err, a.form)
			return
		}
		if err := q.checkLengths(); err != nil {
			c.fail(w, r, err)
			return
		}
		// A browser that leaves does not end it: what is begun would be half done.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), pageTime)
		defer cancel()
		result, err := a.do(ctx, q)
		if err != nil {
			c.Log.Info("an action failed", "path", r.URL.Path, "user", q.user.Name, "err", err)
			c.failForm(w, r, err, a.form)
			return
		}
		c.Log.Info("an action is done", "path", r.URL.Path, "user", q.user.Name, "notice", result.Notice)
		q.say(result.Notice)
		to := result.To
		if to == "" {
			to = backTo(r)
		}
		http.Redirect(w, r, local(to), http.StatusSeeOther)
	}
}

// posted is what a form says, of a page of this session.
func (c *Console) posted(r *http.Request) (*query, error) {
	s := r.Context().Value(sessionKey{}).(*session)
	if err := r.ParseForm(); err != nil {
		return nil, &statusError{http.StatusBadRequest, "The form cannot be read: " + err.Error(), "go back, and send it once more; it may have 2 MiB at most"}
	}
	if !s.made(r.PostForm.Get(formKey)) {
		return nil, &statusError{http.StatusForbidden, "The form is not of a page of this session: nothing was changed", "go back, load the page again, and send the form once more"}
	}
	return &query{session: s, values: r.PostForm, path: r.PathValue, sent: true}, nil
}

// before is the page that a form was on.
func before(r *http.Request) string {
	u, err := url.Parse(r.Referer())
	if err != nil || u.Host != r.Host {
		return "/"
	}
	return u.RequestURI()
}

// local is an address of this console: what would lead elsewhere leads to its first page.
func local(to string) string {
	if u, err := url.Parse(to); err != nil || u.Host != "" || u.Scheme != "" || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.Contains(to, `\`) {
		return "/"
	}
	return to
}
