package browser

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"fairlead.dev/fairlead/test/must"

	"github.com/chromedp/chromedp"
)

// axeVersion is the version of the npm package axe-core that judges pages.
const axeVersion = "4.11.0"

// axe is the script with the rules. It is kept in the user's cache directory, and comes from npm when it is not there.
var axe = sync.OnceValues(func() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "fairlead", "test")
	kept := filepath.Join(dir, "axe-core-"+axeVersion+".tgz")
	if _, err := os.Stat(kept); err != nil {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", err
		}
		if out, err := exec.Command("npm", "pack", "--silent", "--pack-destination", dir, "axe-core@"+axeVersion).CombinedOutput(); err != nil {
			return "", fmt.Errorf("get axe-core %s with npm: %w: %s", axeVersion, err, out)
		}
	}
	packed, err := os.ReadFile(kept)
	if err != nil {
		return "", err
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", kept, err)
	}
	for files := tar.NewReader(unzipped); ; {
		header, err := files.Next()
		if err != nil {
			return "", fmt.Errorf("find axe.min.js in %s: %w", kept, err)
		}
		if header.Name == "package/axe.min.js" {
			script, err := io.ReadAll(files)
			return string(script), err
		}
	}
})

// violation is a rule that a page breaks.
type violation struct {
	ID, Impact, Help string
	Nodes            []struct{ HTML, FailureSummary string }
}

// accessible says that a page breaks no rule, in light and dark, at the width of a desk and of a phone, and that it does not scroll sideways on a phone.
func (p *tab) accessible() {
	p.Helper()
	script, err := axe()
	if errors.Is(err, exec.ErrNotFound) {
		p.Skip("there is no npm to get axe-core with: install the package npm to run this test")
	}
	must.NoError(p, err)
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1280, 390} {
			p.prefers(scheme)
			p.size(width, 800)
			if above := value[[]string](p, `(() => {
				const top = document.querySelector("main h1").getBoundingClientRect().top;
				return [...document.querySelectorAll("main :is(form, section, article, table, select, h2)")].filter(e => { const at = e.getBoundingClientRect();
					return at.height > 0 && at.bottom <= top && !e.closest("#jobs"); }).map(e => e.outerHTML.slice(0, 120));
			})()`); len(above) > 0 {
				p.Errorf("%s, %d wide: above the heading are %q", p.at(), width, above)
			}
			p.fits()
			p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
				_, err := chromedp.Evaluate[any](script+"; null")(ctx, t)
				return err
			}))
			found, err := chromedp.Run(p.ctx, chromedp.Evaluate[[]violation](`axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.map(v =>
				({ID: v.id, Impact: v.impact, Help: v.help, Nodes: v.nodes.slice(0, 3).map(n => ({HTML: n.html.slice(0, 200), FailureSummary: n.failureSummary}))})))`, chromedp.EvalAwaitPromise))
			must.NoErrorf(p, err, "run axe-core at %s", p.at())
			for _, v := range found {
				var where []string
				for _, n := range v.Nodes {
					where = append(where, n.HTML+"\n      "+strings.ReplaceAll(n.FailureSummary, "\n", "\n      "))
				}
				p.Errorf("%s, %s, %d wide: %s (%s): %s\n    %s", p.at(), scheme, width, v.ID, v.Impact, v.Help, strings.Join(where, "\n    "))
			}
		}
	}
	p.prefers("light")
	p.size(1280, 800)
}

// fits says that the page is not wider than the screen.
func (p *tab) fits() {
	p.Helper()
	if over := value[float64](p, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
		p.Errorf("%s is %v pixels wider than the screen of %d, because of %s", p.at(), over, value[int](p, `document.documentElement.clientWidth`), value[string](p, `(() => {
			const wide = [];
			for (const e of document.querySelectorAll("body *")) {
				let hidden = e.getBoundingClientRect().right <= document.documentElement.clientWidth + 1;
				for (let a = e.parentElement; a && !hidden; a = a.parentElement) hidden = a !== document.body && a !== document.documentElement && getComputedStyle(a).overflowX !== "visible";
				if (!hidden) wide.push(e.outerHTML.slice(0, 160));
			}
			return wide.slice(0, 6).join("\n");
		})()`))
	}
}
