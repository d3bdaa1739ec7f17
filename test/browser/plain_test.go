package browser

import (
	"fmt"
	"strings"
	"testing"

	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/must"

	"github.com/chromedp/chromedp"
)

// seesLater is sees for pages without a script, which a user loads again until what they read is there.
func (p *tab) seesLater(texts ...string) {
	p.Helper()
	must.EventuallyWithin(p, fmt.Sprintf("%s to show %q", p.at(), texts), patience, func() error {
		shown := p.text()
		for _, text := range texts {
			if !strings.Contains(shown, text) {
				p.do(chromedp.Reload())
				return fmt.Errorf("%q is not in %s", text, shown)
			}
		}
		return nil
	})
}

// TestWithoutScript: pages can be read, searched and used where scripts are off.
func TestWithoutScript(t *testing.T) {
	w := newWorld(t)
	w.community()
	p := w.open(devcluster.Config())
	p.sees("Installed")
	p.withoutScript()
	p.open("/catalog?namespace=" + w.Namespace)
	p.seesLater("331 packages")
	p.fill("Search", "strimzi")
	p.lacks("of 331 packages")
	p.click("Show")
	p.sees("of 331 packages", "Strimzi")
	p.click("Strimzi")
	p.seesLater("Permissions that it gets", "Versions", "Upgrade graph of channel")
	p.press("Install with a Subscription")
	p.sees("The plan", "Approval")
	p.click("Show the plan")
	p.sees("The plan")
	for _, page := range []string{"/installed", "/approvals", "/why", "/sources", "/operands"} {
		p.open(page)
		p.lacks("try again")
		must.Equal(t, "headings of "+page, value[int](p, `document.querySelectorAll("main h1").length`), 1)
	}
}
