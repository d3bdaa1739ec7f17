package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"fairlead.dev/fairlead/internal/kubeconfig"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/duration"
)

// view is a page: a value that is read as the user, and the template that shows it.
type view struct {
	path, template, title string
	load                  func(ctx context.Context, q *query) (any, error)
}

// query is a request for a page.
type query struct {
	*session
	values url.Values
	path   func(name string) string
}

func (q *query) get(name string) string { return strings.TrimSpace(q.values.Get(name)) }

// namespace is the one that is chosen, in the address so that it can be shared; empty is all.
func (q *query) namespace() string { return q.get("namespace") }

// shown is what a template is given.
type shown struct {
	Title, Path string
	Address     string // of the page itself
	User        string
	Namespace   string
	Form        string // what forms carry
	Notice      string
	Now         time.Time
	Data        any
}

// statusError is an error with the status of its answer, and what to do.
type statusError struct {
	status         int
	text, whatToDo string
}

func (e *statusError) Error() string { return e.text }

// pages are the templates.
type pages struct{ byName map[string]*template.Template }

const layout = "templates/layout.html"

func newPages(a *assets) (*pages, error) {
	names, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		return nil, fmt.Errorf("list the templates: %w", err)
	}
	p := &pages{map[string]*template.Template{}}
	for _, name := range names {
		if name == layout {
			continue
		}
		t, err := template.New(path.Base(layout)).Funcs(functions(a)).ParseFS(files, layout, name)
		if err != nil {
			return nil, fmt.Errorf("read template %s: %w", name, err)
		}
		p.byName[strings.TrimSuffix(path.Base(name), ".html")] = t
	}
	return p, nil
}

// functions are what templates may call.
func functions(a *assets) template.FuncMap {
	return template.FuncMap{
		"asset": a.address,
		"age":   func(now, then time.Time) string { return duration.HumanDuration(now.Sub(then)) },
		"lines": func(text string) []string { return strings.Split(strings.TrimSpace(text), "\n") },
		"add":   func(a, b int) int { return a + b },
		"choice": func(now, all string, of []string) any {
			return struct {
				Now, All string
				Of       []string
			}{now, all, of}
		},
		"address": func(address, key, value string) string { // the same page with another parameter
			u, err := url.Parse(address)
			if err != nil {
				return address
			}
			values := u.Query()
			if values.Del(key); value != "" {
				values.Set(key, value)
			}
			u.RawQuery = values.Encode()
			return u.String()
		},
	}
}

// page answers with HTML.
func (c *Console) page(v view) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s, data, err := c.load(v, r)
		if err != nil {
			c.fail(w, r, err)
			return
		}
		c.render(w, http.StatusOK, v.template, c.shown(s, r, v.title, data))
	}
}

// json answers with the same value, for programs.
func (c *Console) json(v view) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, data, err := c.load(v, r)
		status, answer := http.StatusOK, data
		if err != nil {
			known := explain(err)
			status, answer = known.status, map[string]string{"error": known.text, "remedy": known.whatToDo}
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(answer); err != nil {
			c.Log.Debug("answer a program", "path", r.URL.Path, "err", err)
		}
	}
}

func (c *Console) load(v view, r *http.Request) (*session, any, error) {
	s := r.Context().Value(sessionKey{}).(*session)
	ctx, cancel := context.WithTimeout(r.Context(), pageTime)
	defer cancel()
	data, err := v.load(ctx, &query{session: s, values: r.URL.Query(), path: r.PathValue})
	return s, data, err
}

func (c *Console) shown(s *session, r *http.Request, title string, data any) shown {
	return shown{Title: title, Path: r.URL.Path, Address: r.URL.RequestURI(), User: s.user.Name, Namespace: r.URL.Query().Get("namespace"), Form: s.formToken(), Notice: s.said(),
		Now: c.Clock.Now(), Data: data}
}

// render writes a page, once it is there as a whole.
func (c *Console) render(w http.ResponseWriter, status int, name string, page shown) {
	var out bytes.Buffer
	if err := c.pages.byName[name].Execute(&out, page); err != nil {
		c.Log.Error("make a page", "template", name, "err", err)
		http.Error(w, "The page cannot be shown: its template failed. The log of the console says why.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	if _, err := out.WriteTo(w); err != nil {
		c.Log.Debug("send a page", "err", err)
	}
}

// failure is what the page of an error shows.
type failure struct {
	Status       int
	Text, Remedy string
}

// fail answers with an error: what failed, and what to do.
func (c *Console) fail(w http.ResponseWriter, r *http.Request, err error) {
	known := explain(err)
	s := r.Context().Value(sessionKey{}).(*session)
	c.render(w, known.status, "error", c.shown(s, r, "Not shown", failure{known.status, known.text, known.whatToDo}))
}

// explain gives an error a status and a remedy.
func explain(err error) *statusError {
	var known *statusError
	text := kubeconfig.Explain(err).Error()
	switch {
	case errors.As(err, &known):
		return known
	case apierrors.IsNotFound(err):
		return &statusError{http.StatusNotFound, text, "it may have been removed meanwhile: go back, and load that page again"}
	case apierrors.IsForbidden(err):
		return &statusError{http.StatusForbidden, text, "ask an administrator of the cluster for that right, or choose a namespace of yours"}
	case apierrors.IsUnauthorized(err):
		return &statusError{http.StatusUnauthorized, text, "the cluster does not know you any more: begin a new session"}
	case errors.Is(err, context.DeadlineExceeded):
		return &statusError{http.StatusGatewayTimeout, text, "the cluster took too long to answer: try again"}
	}
	return &statusError{http.StatusBadGateway, text, "try again; fairlead doctor finds what is wrong with a cluster"}
}
