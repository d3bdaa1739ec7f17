package browser

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"fairlead.dev/fairlead/docs"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/must"

	"k8s.io/client-go/rest"
)

// judgedDocs are pages of the documentation with all that one may have: long tables and examples, lists, and a great many links. Each takes seconds to be judged.
var judgedDocs = []string{"/docs", "/docs/console.md", "/docs/commands.md", "/docs/catalogsources.md", "/docs/glossary.md"}

// TestDocs: pages of the documentation can be read by all, as the other pages of the console, and none of them is wider than a telephone.
func TestDocs(t *testing.T) {
	w := newWorld(t)
	p := w.open(devcluster.Config())
	p.sees("Installed")
	for _, page := range judgedDocs {
		p.open(page)
		p.accessible()
	}
	p.size(390, 800)
	for _, file := range must.Value(docs.Pages.ReadDir("."))(t) {
		p.open("/docs/" + file.Name())
		p.fits()
		if wrong := value[int](p, `[...document.querySelectorAll("article table")].filter(t => getComputedStyle(t.rows[0].cells[0]).display !== "table-cell").length`); wrong > 0 {
			p.Errorf("%s: %d tables have no columns on a telephone", p.at(), wrong)
		}
	}
	must.Empty(t, "complaints of the browser", p.complaints())
}

// held is a transport that answers requests about packages only when it is let go.
type held struct {
	http.RoundTripper
	begin <-chan struct{}
}

// RoundTrip implements http.RoundTripper.
func (h held) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.Contains(r.URL.Path, "/packagemanifests") {
		select {
		case <-h.begin:
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	return h.RoundTripper.RoundTrip(r)
}

// TestPageThatIsBeingRead: while the catalogs are read for the first time, the page says so to all, and shows what was asked for when they are there.
func TestPageThatIsBeingRead(t *testing.T) {
	w := newWorld(t)
	answer := make(chan struct{})
	let := sync.OnceFunc(func() { close(answer) })
	defer let()
	config := rest.CopyConfig(devcluster.Config())
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper { return held{rt, answer} })
	p := w.open(config)
	p.sees("Installed")
	p.open("/package/nothing?namespace=" + w.Namespace)
	p.sees("The catalogs are being read for the first time")
	p.accessible()
	must.Empty(t, "complaints of the browser", p.complaints())
	let()
	p.sees("No catalog in view of namespace " + w.Namespace + " has a package nothing")
}
