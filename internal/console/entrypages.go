package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
)

// entryPage is what the pages of users who are not logged in show.
type entryPage struct {
	Text, Remedy string // of what failed
	To           string // the address of the console to go to afterwards
	Provider     string // where users can log in; empty where they cannot
	ProviderPath string // of this console, and leads there
}

// entryPages are the templates of users who are not logged in: they know nothing of the cluster.
type entryPages struct{ login, entered *template.Template }

func newEntryPages(a *assets) (*entryPages, error) {
	p := &entryPages{}
	for name, into := range map[string]**template.Template{"login.html": &p.login, "entered.html": &p.entered} {
		t, err := template.New(name).Funcs(functions(a)).ParseFS(files, "templates/entry/"+name)
		if err != nil {
			return nil, fmt.Errorf("read template %s: %w", name, err)
		}
		*into = t
	}
	return p, nil
}

// show answers with the page to log in at.
func (a *ClusterAccess) show(w http.ResponseWriter, status int, page entryPage) {
	if page.To == "" {
		page.To = "/"
	}
	if a.oidc != nil {
		page.Provider, page.ProviderPath = a.oidc.host(), address(oidcPath, toField, page.To)
	}
	a.send(w, status, a.entry.login, page)
}

// entered answers who has logged in elsewhere. It is a page and no redirect: a browser that comes from another site sends the cookie of the session
// (SameSite=Strict) only with what a page of this one asks for.
func (a *ClusterAccess) entered(w http.ResponseWriter, to string) {
	a.send(w, http.StatusOK, a.entry.entered, entryPage{To: to})
}

func (a *ClusterAccess) send(w http.ResponseWriter, status int, t *template.Template, page entryPage) {
	var out bytes.Buffer
	if err := visibly(&out, t, t.Name(), page); err != nil {
		a.log.Error("make a page", "template", t.Name(), "err", err)
		http.Error(w, "The page cannot be shown: its template failed. The log of the manager says why.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	if _, err := out.WriteTo(w); err != nil {
		a.log.Debug("send a page", "err", err)
	}
}

// refuseProgram answers a program that was not let in.
func refuseProgram(w http.ResponseWriter, log *slog.Logger, why *statusError) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	switch why.status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", `Bearer realm="fairlead"`)
	case http.StatusTooManyRequests:
		h.Set("Retry-After", attemptRetry)
	}
	w.WriteHeader(why.status)
	if err := json.NewEncoder(w).Encode(refusal(why)); err != nil {
		log.Debug("answer a program", "err", err)
	}
}
