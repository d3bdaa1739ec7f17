package console

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/ops/preview"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/duration"
)

// view is a page: a value that is read as the user, and the template that shows it.
type view struct {
	path, template, title string
	// posted is true of a page whose question is too long for an address: a form sends it. Nothing is changed by it.
	posted bool
	load   func(ctx context.Context, q *query) (any, error)
}

// query is a request for a page.
type query struct {
	*session
	values url.Values
	path   func(name string) string
	whole  bool // a program asks, which waits for the whole answer
	sent   bool // a form sent it
}

func (q *query) get(name string) string { return strings.TrimSpace(q.values.Get(name)) }

// namespace is the one that is chosen, in the address so that it can be shared; empty is all, which a user who may not see all does not mean.
func (q *query) namespace(ctx context.Context) string {
	if chosen := q.get(namespaceKey); chosen != "" || q.user.seesAll(ctx) {
		return chosen
	}
	if own := q.placed(); own != "" {
		return own
	}
	return q.user.Namespace
}

// placed is the namespace of the operator whose page this is; empty of other pages.
func (q *query) placed() string {
	if q.path == nil || q.path("kind") == "" {
		return ""
	}
	return q.path(namespaceKey)
}

// namespaceKey is the parameter of an address with the namespace.
const namespaceKey = "namespace"

// shown is what a template is given.
type shown struct {
	Title, Path string
	Address     string // of the page itself
	Go          string // where another namespace is chosen for: the page itself, or one that is there
	Sent        bool   // by a form, so that the browser has another address than that of the page
	Stream      string // the namespace whose changes the page follows; empty is all
	Slow        bool   // what it shows changes without one of those changes, so that it is read again from time to time
	Follow      string // where a page that a form has sent is read again; empty where no address has all that it shows
	User        string
	Namespace   string
	Namespaces  []string // that there are, as far as the user may know
	Form        string   // what forms carry
	Leave       bool     // whether the user can log out
	Notice      string
	Jobs        []Job // that the session has begun
	Now         time.Time
	Waiting     int // for a person, as the mark at the page of approvals says
	Data        any
	Main        template.HTML // what layout.html is around
}

// statusError is an error with the status of its answer, and what to do.
type statusError struct {
	status         int
	text, whatToDo string
}

func (e *statusError) Error() string { return e.text }

// pages are the templates: one set for all, as each takes memory for as long as the console runs. That of a page defines main-NAME, which layout.html is around.
type pages struct{ all *template.Template }

func newPages(a *assets) (*pages, error) {
	all, err := template.New("layout.html").Funcs(functions(a)).ParseFS(files, "templates/*.html", "templates/parts/*.html")
	if err != nil {
		return nil, fmt.Errorf("read the templates: %w", err)
	}
	return &pages{all}, nil
}

// write writes a page.
func (p *pages) write(w io.Writer, name string, page shown) error {
	var main bytes.Buffer
	if err := p.all.ExecuteTemplate(&main, "main-"+name, page); err != nil {
		return err
	}
	page.Main = template.HTML(main.String()) //nolint:gosec // G203: a template has made it
	return visibly(w, p.all, p.all.Name(), page)
}

// functions are what templates may call.
func functions(a *assets) template.FuncMap {
	return template.FuncMap{
		"asset":   a.address,
		"age":     func(now, then time.Time) string { return duration.HumanDuration(now.Sub(then)) },
		"lines":   func(text string) []string { return strings.Split(strings.TrimSpace(text), "\n") },
		"add":     func(a, b int) int { return a + b },
		"places":  func() []place { return places },
		"under":   under,
		"kept":    kept,
		"pairs":   pairs,
		"minus":   func(n int) int { return -n },
		"value":   shownValue,
		"few":     few,
		"class":   class,
		"line":    messages.Line,
		"verdict": verdictClass, "web": isWeb, "named": named, "nameable": canBeNamed, "clustered": preview.IsClusterCatalog,
		"stamp": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"choice": func(now, all string, of []string) any {
			return struct {
				Now, All string
				Of       []string
			}{now, all, of}
		},
		"address": address,
		"doc":     docOf, "commandlinks": commandLinks, "spans": spans, "manifest": manifest,
		"first":   first,
		"plain":   messages.Clean,
		"source":  sourceAddress,
		"minutes": wholeMinutes, "interval": shortInterval,
		"short": func(digest string) string { return digest[:min(len(digest), len("sha256:")+12)] },
		"deref": func(t *time.Time) time.Time { return *t },
		"list":  func(all ...any) []any { return all },
	}
}

// place is a page that every page leads to.
type place struct{ Path, Name string }

var places = []place{{"/catalog", "Catalog"}, {"/installed", "Installed"}, {"/approvals", "Approvals"}, {"/operands", "Custom resources"}, {"/why", "Why"}, {"/sources", "Catalog sources"}}

// under reports whether a page belongs to a place.
func under(path, of string) bool {
	for prefix, place := range map[string]string{"/source/": "/sources", "/package/": "/catalog", "/install/": "/catalog", "/operator/": "/installed"} {
		if place == of && strings.HasPrefix(path+"/", prefix) {
			return true
		}
	}
	return path == of || strings.HasPrefix(path, of+"/")
}

// address is an address with another value of a parameter; without one where the value is empty.
func address(of, key, value string) string {
	u, err := url.Parse(of)
	if err != nil {
		return of
	}
	values := u.Query()
	if values.Del(key); value != "" {
		values.Set(key, value)
	}
	u.RawQuery = values.Encode()
	return u.String()
}

// parameter is one of an address.
type parameter struct{ Name, Value string }

// kept are the parameters of an address that a form keeps besides its own.
func kept(of string, own ...string) (out []parameter) {
	u, err := url.Parse(of)
	if err != nil {
		return nil
	}
	values := u.Query()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		for _, v := range values[name] {
			if !slices.Contains(own, name) && name != "page" {
				out = append(out, parameter{name, v})
			}
		}
	}
	return out
}

// pairs gives a template several values by name: {{template "button" (pairs "Right" .May "Text" "Approve")}}.
func pairs(all ...any) (map[string]any, error) {
	if len(all)%2 != 0 {
		return nil, errors.New("give names and values in turn")
	}
	out := map[string]any{}
	for i := 0; i < len(all); i += 2 {
		name, ok := all[i].(string)
		if !ok {
			return nil, fmt.Errorf("a name is a string, not %v", all[i])
		}
		out[name] = all[i+1]
	}
	return out, nil
}

// errReading is that a page cannot be shown before the catalogs have been read for the first time. The browser gets a page that says so, and follows.
var errReading = errors.New("the catalogs are being read")

// page answers with HTML.
func (c *Console) page(v view) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q, data, err := c.load(v, r)
		if errors.Is(err, errReading) {
			c.render(w, http.StatusAccepted, "reading", c.shown(r, q, v.title, nil))
			return
		}
		if err != nil && r.Method == http.MethodPost {
			c.failForm(w, r, err, r.URL.EscapedPath())
			return
		}
		if err != nil {
			c.fail(w, r, err)
			return
		}
		if led, ok := data.(interface{ redirect() string }); ok && q.sent && led.redirect() != "" {
			http.Redirect(w, r, led.redirect(), http.StatusSeeOther)
			return
		}
		c.render(w, http.StatusOK, v.template, c.shown(r, q, v.title, data))
	}
}

// json answers with the same value, for programs.
func (c *Console) json(v view) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, data, err := c.load(v, r)
		status, answer := http.StatusOK, data
		if err != nil {
			known := explain(err)
			status, answer = known.status, refusal(known)
		}
		c.answer(w, r, status, answer)
	}
}

// answer writes a value for a program.
func (c *Console) answer(w http.ResponseWriter, r *http.Request, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		c.Log.Debug("answer a program", "path", r.URL.Path, "err", err)
	}
}

// refusal is what programs get instead of a value.
func refusal(why *statusError) map[string]string {
	return map[string]string{"error": why.text, "remedy": why.whatToDo}
}

func (c *Console) load(v view, r *http.Request) (q *query, data any, err error) {
	q = &query{session: r.Context().Value(sessionKey{}).(*session), values: r.URL.Query(), path: r.PathValue, whole: strings.HasPrefix(r.URL.Path, "/api/")}
	if r.Method == http.MethodPost {
		if q, err = c.posted(r); err != nil {
			return nil, nil, err
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), pageTime)
	defer cancel()
	if err = q.checkNames(v); err != nil {
		return q, nil, err
	}
	if !navigates(r) {
		ctx = context.WithValue(ctx, followingKey{}, true)
	}
	data, err = v.load(patient(ctx), q)
	return q, data, err
}

func (c *Console) shown(r *http.Request, q *query, title string, data any) shown {
	if named, ok := data.(interface{ pageTitle() string }); ok {
		title = named.pageTitle()
	}
	ctx, cancel := context.WithTimeout(r.Context(), pageTime)
	defer cancel()
	address := r.URL.RequestURI()
	followed := address
	if addressed, ok := data.(interface{ pageAddress() (string, bool) }); ok && q.sent { // what a form has sent is not in the address of its answer
		var whole bool
		if address, whole = addressed.pageAddress(); whole {
			followed = address
		} else {
			followed = ""
		}
	}
	namespace := q.namespace(ctx)
	_, slow := data.(interface{ slowly() })
	return shown{Stream: cmp.Or(r.PathValue(namespaceKey), namespace), Slow: slow, Title: title, Path: r.URL.Path, Go: r.URL.Path, Address: address, Sent: r.Method == http.MethodPost, Follow: followed, User: q.user.Name, Namespace: namespace, Namespaces: q.user.namespaces(ctx),
		Form: q.formToken(), Leave: c.cluster != nil, Notice: noticeOf(r, q.session), Jobs: onPage(r.URL.Path, q.jobs.shown(c.Clock.Now())), Now: c.Clock.Now(), Waiting: q.user.waiting(ctx, namespace), Data: data}
}

// noticeOf is what a session has to be shown, for a page that the user goes to: what a script reads to bring a page up to date does not take it away.
func noticeOf(r *http.Request, s *session) string {
	if !navigates(r) {
		return ""
	}
	return s.said()
}

// navigates reports whether a person goes to a page, rather than a script that brings one up to date. Browsers that do not say so go to it.
func navigates(r *http.Request) bool {
	mode := r.Header.Get("Sec-Fetch-Mode")
	return mode == "" || mode == "navigate"
}

// render writes a page, once it is there as a whole.
func (c *Console) render(w http.ResponseWriter, status int, name string, page shown) {
	var out bytes.Buffer
	if err := c.pages.write(&out, name, page); err != nil {
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
	Status             int
	Text, Remedy, Back string
	Docs               string    // what the documentation has about it
	Again              *sentForm // leads back with what a form has said; nil where Back does
	Retry              bool      // by the page itself that could not be shown
}

// fail answers with an error: what failed, and what to do.
func (c *Console) fail(w http.ResponseWriter, r *http.Request, err error) {
	c.failWith(w, r, err, nil)
}

func (c *Console) failWith(w http.ResponseWriter, r *http.Request, err error, again *sentForm) {
	known := explain(err)
	title, back := "Not shown", ""
	of := r // the page that another namespace can be chosen for
	switch {
	case r.Method == http.MethodPost:
		title, back = "Not done", local(before(r))
		of = withAddress(r, back)
	case known == noRoute:
		of = withAddress(r, address("/installed", namespaceKey, r.URL.Query().Get(namespaceKey)))
	}
	q := &query{session: r.Context().Value(sessionKey{}).(*session), values: of.URL.Query(), path: r.PathValue}
	page := c.shown(of, q, title, failure{known.status, known.text, known.whatToDo, back, docOfError(known.status, r.URL.Path), again, again != nil && again.To == r.URL.EscapedPath()})
	if again != nil {
		page.Follow = "" // no address has all that it was about
	}
	if known == noRoute {
		page.Path = "" // it belongs to no place
	}
	c.render(w, known.status, "error", page)
}

// withAddress is a request as that for another page of this console.
func withAddress(r *http.Request, address string) *http.Request {
	u, err := url.Parse(address)
	if err != nil {
		return r
	}
	other := r.Clone(r.Context())
	other.URL = u
	return other
}

// explain gives an error a status and a remedy.
func explain(err error) *statusError {
	var known *statusError
	text := kubeconfig.Explain(err).Error()
	switch {
	case errors.As(err, &known):
		return known
	case messages.Asked(err) != nil:
		return explainAsked(err)
	case errors.As(err, new(*ops.MeantError)):
		return &statusError{http.StatusConflict, text, "go back, and check what it would do now"}
	case apierrors.IsNotFound(err):
		return &statusError{http.StatusNotFound, text, "it may have been removed meanwhile: go back, and load that page again"}
	case apierrors.IsForbidden(err):
		return &statusError{http.StatusForbidden, text, "ask an administrator of the cluster for that right, or choose a namespace of yours"}
	case apierrors.IsUnauthorized(err):
		return &statusError{http.StatusUnauthorized, text, "the cluster does not know you any more: begin a new session"}
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return &statusError{http.StatusConflict, text, "something else has changed it meanwhile: go back, load that page again, and check what is there now"}
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return &statusError{http.StatusUnprocessableEntity, text, "go back, and correct what it says"}
	case apierrors.IsTooManyRequests(err):
		return &statusError{http.StatusServiceUnavailable, text, "the cluster is busy: try again in a minute"}
	case errors.Is(err, context.DeadlineExceeded), apierrors.IsTimeout(err), apierrors.IsServerTimeout(err):
		return &statusError{http.StatusGatewayTimeout, text, "the cluster took too long to answer: try again"}
	}
	return &statusError{http.StatusBadGateway, text, "try again; fairlead doctor finds what is wrong with a cluster"}
}
