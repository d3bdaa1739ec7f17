package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// patience is how long a page may take to show what is expected, with what the cluster has to do for it.
const patience = 60 * time.Second

// chromium is the browser that all tests share; each has a profile of its own in it.
var chromium = sync.OnceValues(func() (context.Context, error) {
	path, err := program()
	if err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // which the sandbox of Chromium refuses to work without
	}
	allocator, _ := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stop := chromedp.NewContext(allocator)
	ends = stop
	return ctx, chromedp.Do(ctx, chromedp.Navigate("about:blank"))
})

// ends ends the browser.
var ends = func() {}

// program is where Chromium is.
func program() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", exec.ErrNotFound
}

// tab is a page of the browser, as one user.
type tab struct {
	*testing.T
	ctx  context.Context
	base string

	mu   sync.Mutex
	said []string // what the browser complains about
}

// newTab opens the address of a console.
func newTab(t *testing.T, address string) *tab {
	t.Helper()
	if _, err := program(); err != nil {
		t.Skip("there is no Chromium: install the package chromium of Debian, or any other build of it, to run this test")
	}
	browser := must.Value(chromium())(t)
	ctx, stop := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(stop)
	base, _, _ := strings.Cut(address, "/?")
	p := &tab{T: t, ctx: ctx, base: base}
	must.NoError(t, chromedp.Do(ctx, chromedp.Navigate("about:blank"))) // the tab lasts as long as the context of what is done first
	messages := chromedp.Console(ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			p.mu.Lock()
			p.said = append(p.said, fmt.Sprint(m))
			p.mu.Unlock()
		}
	}()
	p.size(1280, 800)
	p.do(chromedp.Navigate(address))
	return p
}

// do does something in the browser.
func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	err := chromedp.Do(ctx, steps...)
	for err != nil && strings.Contains(err.Error(), "Could not find node") && ctx.Err() == nil {
		err = chromedp.Do(ctx, steps...) // the page has put a newer part in the place of the one with the element, before anything was done with it
	}
	must.NoErrorf(p, err, "at %s", p.at())
}

// value is what an expression is in the page.
func value[T any](p *tab, expression string) T {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	must.NoErrorf(p, err, "evaluate %s", expression)
	return v
}

// at is the address of the page, below that of the console.
func (p *tab) at() string {
	ctx, cancel := context.WithTimeout(p.ctx, time.Second)
	defer cancel()
	at, err := chromedp.Run(ctx, chromedp.Location())
	if err != nil {
		return err.Error()
	}
	return strings.TrimPrefix(at, p.base)
}

func (p *tab) size(width, height int64) {
	p.Helper()
	p.do(chromedp.EmulateViewport(width, height))
}

// prefers sets the colours that the user prefers: light or dark.
func (p *tab) prefers(scheme string) {
	p.Helper()
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}})
	must.NoErrorf(p, err, "prefer %s", scheme)
}

// without turns scripts of pages off.
func (p *tab) withoutScript() {
	p.Helper()
	_, err := chromedp.Call(p.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	must.NoErrorf(p, err, "turn scripts off")
}

// open goes to a page.
func (p *tab) open(path string) {
	p.Helper()
	p.do(chromedp.Navigate(p.base + path))
}

// quoted is a text as XPath has it.
func quoted(text string) string {
	if strings.Contains(text, `"`) {
		return "'" + text + "'"
	}
	return `"` + text + `"`
}

// click clicks the link, button or summary with a text.
func (p *tab) click(text string) {
	p.Helper()
	p.do(chromedp.Click(fmt.Sprintf(`//main//*[self::a or self::button or self::summary][normalize-space()=%s] | //header//a[normalize-space()=%[1]s]`, quoted(text))))
}

// field is the control with a label.
func field(label string) string {
	return fmt.Sprintf(`(//main//label[starts-with(normalize-space(), %s)]//*[self::input or self::textarea or self::select] | //*[@id=//main//label[starts-with(normalize-space(), %[1]s)]/@for])[1]`, quoted(label))
}

// fill types a text into the control with a label, in the place of what is there.
func (p *tab) fill(label, text string) {
	p.Helper()
	p.do(chromedp.Clear(field(label)), chromedp.SendKeys(field(label), text))
}

// choose chooses one of a list by the text of the option.
func (p *tab) choose(label, option string) {
	p.Helper()
	done := value[bool](p, fmt.Sprintf(`(() => {
		const control = document.evaluate(%q, document, null, XPathResult.FIRST_ORDERED_NODE_TYPE).singleNodeValue;
		if (!control) return false;
		for (const o of control.options) if (o.textContent.trim() === %q || o.value === %[2]q) {
			control.value = o.value;
			control.dispatchEvent(new Event("input", {bubbles: true}));
			control.dispatchEvent(new Event("change", {bubbles: true}));
			return true;
		}
		return false;
	})()`, field(label), option))
	if !done {
		p.Fatalf("at %s: there is no %q to choose at %q", p.at(), option, label)
	}
}

// arrives waits until the browser is at a page, whatever is asked of it, and it is there.
func (p *tab) arrives(path string) {
	p.Helper()
	must.EventuallyWithin(p, "the browser to be at "+path, patience, func() error {
		if at := p.at(); strings.SplitN(at, "?", 2)[0] != path {
			return fmt.Errorf("it is at %s", at)
		}
		return nil
	})
	p.do(chromedp.WaitReady("main h1"))
}

// press clicks the button or link whose text begins with a text: that of the first object on the page.
func (p *tab) press(beginning string) {
	p.Helper()
	p.do(chromedp.Click(fmt.Sprintf(`(//main//*[self::a or self::button][starts-with(normalize-space(), %s)])[1]`, quoted(beginning))))
}

// tick chooses the radio button or the checkbox with a label.
func (p *tab) tick(label string) {
	p.Helper()
	p.do(chromedp.Click(field(label)))
}

// stays says that the page has not been loaded again while something happened.
func (p *tab) stays(what string, happens func()) {
	p.Helper()
	value[bool](p, `window.stays = true`)
	happens()
	if !value[bool](p, `window.stays === true`) {
		p.Errorf("%s was loaded again until %s", p.at(), what)
	}
}

// text is what the page shows.
func (p *tab) text() string {
	p.Helper()
	return strings.Join(strings.Fields(value[string](p, `document.body?.innerText ?? ""`)), " ")
}

// sees waits until the page shows texts, without being loaded again.
func (p *tab) sees(texts ...string) {
	p.Helper()
	must.EventuallyWithin(p, fmt.Sprintf("%s to show %q", p.at(), texts), patience, func() error {
		shown := p.text()
		for _, text := range texts {
			if !strings.Contains(shown, text) {
				return fmt.Errorf("%q is not in %s", text, shown)
			}
		}
		return nil
	})
}

// lacks says that the page does not show texts.
func (p *tab) lacks(texts ...string) {
	p.Helper()
	must.Lack(p, p.at(), p.text(), texts...)
}

// complaints are what the browser has complained about: scripts that fail, what the policy of the page refuses, what is not there.
func (p *tab) complaints() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said
}

// transfer is what a view of a page takes, as the network has it.
type transfer struct {
	bytes   int64         // with all that it loads
	follows int64         // of the same page once more, as it begins to follow the cluster
	took    time.Duration // until it is shown
}

// transferred is what a page takes in a browser that has seen none before. It waits until the page follows the cluster.
func (p *tab) transferred(path string) (v transfer) {
	p.Helper()
	_, err := chromedp.Call(p.ctx, network.ClearBrowserCache, cdp.Empty{})
	must.NoErrorf(p, err, "clear the cache of the browser")
	p.open(path)
	must.EventuallyWithin(p, path+" to follow the cluster", patience, func() error {
		if !value[bool](p, `performance.getEntriesByType("resource").some(e => e.initiatorType === "fetch")`) {
			return errors.New("it has not been read again since its stream began")
		}
		return nil
	})
	v.bytes = int64(value[float64](p, `[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource").filter(e => e.initiatorType !== "fetch")]
		.filter(e => !e.name.includes("/live") && !e.name.includes("/icon")).reduce((sum, e) => sum + e.transferSize, 0)`))
	v.follows = int64(value[float64](p, `performance.getEntriesByType("resource").find(e => e.initiatorType === "fetch").transferSize`))
	v.took = time.Duration(value[float64](p, `performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd`) * float64(time.Millisecond))
	return v
}
