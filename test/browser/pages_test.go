package browser

import (
	"fmt"
	"testing"
	"time"

	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/must"
)

// TestPages: with the full public catalog each page is there at once, small, and without a complaint of the browser, and can be read by all. What is measured is
// the first view of each by a browser that has kept nothing, while nothing else is read: the stories have the pages of operators.
func TestPages(t *testing.T) {
	w := newWorld(t)
	w.community()
	p := w.open(devcluster.Config())
	p.sees("Installed")
	p.open("/catalog")
	p.sees("331 packages")
	p.open("/sources")
	must.EventuallyWithin(t, "both catalogs to be served", patience, func() error {
		if n := value[int](p, `[...document.querySelectorAll("main .badge.good")].filter(b => b.textContent === "serves").length`); n != 2 {
			return fmt.Errorf("%d are", n)
		}
		return nil
	})
	here := "namespace=" + w.Namespace
	kafka := here + "&catalog=" + global + "/community"
	for _, page := range []string{"/installed", "/catalog", "/catalog?q=kafka", "/package/strimzi-kafka-operator?" + kafka, "/install?package=strimzi-kafka-operator&api=v0&" + kafka, "/approvals?" + here,
		"/operands?" + here, "/why?kind=why-not&name=strimzi-kafka-operator&" + kafka, "/sources", "/source/v0/" + global + "/community", "/source/v1/community"} {
		bytes, took := p.transferred(page)
		t.Logf("%-110s %6.1f kB transferred (most: 100), first view after %4d ms (most: 300)", page, float64(bytes)/1000, took.Milliseconds())
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
