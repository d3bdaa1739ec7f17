package browser

import (
	"testing"
	"time"

	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/must"
)

// TestPages: with the full public catalog each page is there at once, small, and without a complaint of the browser, and can be read by all.
func TestPages(t *testing.T) {
	w := newWorld(t)
	w.community()
	p := w.open(devcluster.Config())
	p.sees("Installed")
	p.open("/catalog")
	p.sees("331 packages")
	for _, page := range []string{"/installed", "/catalog", "/catalog?q=kafka"} {
		bytes, took := p.transferred(page)
		t.Logf("%-40s %6.1f kB transferred (most: 100), first view after %4d ms (most: 300)", page, float64(bytes)/1000, took.Milliseconds())
		if bytes > 100_000 {
			t.Errorf("%s takes %d bytes", page, bytes)
		}
		if took > must.Within(5*time.Second) { // an idle machine takes less than 300 ms; this one may do much else
			t.Errorf("%s is shown after %s", page, took)
		}
		p.accessible()
	}
	must.Empty(t, "complaints of the browser", p.complaints())
}
