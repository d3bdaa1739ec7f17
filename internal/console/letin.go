package console

import (
	"context"
	"net/http"
)

// door is how sessions begin and end.
type door struct{ *Console }

// sessionOf is the session of a request, by its cookie or, for a program, by what it carries itself; nil where it has none. What is refused is answered.
func (c door) sessionOf(w http.ResponseWriter, r *http.Request) (s *session, answered bool) {
	if c.cluster != nil && c.cluster.owns(r.URL.Path) {
		return nil, false
	}
	for _, cookie := range r.CookiesNamed(c.cookie(r)) {
		if s = c.sessions.get(cookie.Value); s != nil {
			break
		}
	}
	if s != nil {
		if c.cluster == nil && r.URL.Query().Has(tokenKey) { // another address of the console, for another session
			return nil, false
		}
		if err := s.user.present(r.Context()); err != nil {
			c.Log.Info("a session has ended", "user", s.user.Name, "err", err)
			c.sessions.finish(s)
			return nil, false
		}
		return s, false
	}
	if c.cluster == nil {
		return nil, false
	}
	user, err := c.cluster.Program(r)
	if err != nil {
		c.Log.Info("a program was refused", "client", r.RemoteAddr, "path", r.URL.Path, "err", err)
		refuseProgram(w, c.Log, explain(err))
		return nil, true
	}
	if user == nil {
		return nil, false
	}
	return &session{user: user}, false
}

// letIn begins a session. Its cookie is a new one, and the session that the browser has had until now ends.
func (c door) letIn(w http.ResponseWriter, r *http.Request, user *User) bool {
	id, err := c.sessions.begin(user)
	if err != nil {
		user.forget(errLoggedOut)
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return false
	}
	for _, before := range r.CookiesNamed(c.cookie(r)) {
		c.sessions.end(before.Value)
	}
	http.SetCookie(w, &http.Cookie{Name: c.cookie(r), Value: id, Path: "/", HttpOnly: true, Secure: c.guard.secure, SameSite: http.SameSiteStrictMode})
	c.shelf.warm(r.Context(), user)
	c.Log.Info("a session begins", "user", user.Name, "client", r.RemoteAddr)
	return true
}

// leave ends the session of the user, and forgets what they have proved who they are with.
func (c door) leave(_ context.Context, q *query) (done, error) {
	c.sessions.finish(q.session)
	return done{Notice: "logged out", To: loginPath}, nil
}

// part is how users of a cluster log out. The user of a kubeconfig closes the console.
func (c door) part() part {
	if c.cluster == nil {
		return part{}
	}
	return part{actions: []action{{path: logoutPath, do: c.leave}}}
}

// forget drops what is kept for a user who is not there any more. Who comes again with another session is another user; that of a kubeconfig stays.
func (c door) forget(u *User) {
	if u.credential == nil {
		return
	}
	asks := func(key asked) bool { return key.user == u }
	c.answers.forget(asks)
	c.contents.forget(asks)
	c.updates.forget(asks)
	c.planned.forget(asks)
	c.extended.forget(asks)
	c.upgrades.forget(asks)
	c.proofs.forget(asks)
	c.shelf.kept.forget(func(key shelfKey) bool { return key.user == u })
	c.standings.forget(func(key standingKey) bool { return key.user == u })
	c.front.details.forget(func(key detailKey) bool { return key.user == u })
	c.front.plans.forget(func(key planKey) bool { return key.user == u })
	c.front.icons.forget(u)
}
