package browser

import (
	"flag"
	"os"
	"path/filepath"

	"fairlead.dev/fairlead/test/must"

	"github.com/chromedp/chromedp"
)

var screenshots = flag.Bool("screenshots", false, "write the pictures of docs/console.md")

// largestPicture is how many bytes a picture of the documentation may have.
const largestPicture = 250_000

// shot writes what the window shows as a picture of docs/console.md, where the flag asks for that.
func (p *tab) shot(name string) {
	p.Helper()
	if !*screenshots {
		return
	}
	p.size(1280, 800)
	p.do(chromedp.MouseClickXY(1, 1)) // nothing has the focus
	value[any](p, `Promise.all([...document.images].map(i => i.decode().catch(() => null))).then(() => null), null`)
	picture, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	must.NoErrorf(p, err, "take a picture of %s", p.at())
	if len(picture) > largestPicture {
		p.Errorf("the picture of %s has %d bytes, and may have %d", p.at(), len(picture), largestPicture)
	}
	dir := filepath.Join("..", "..", "docs", "images")
	must.NoError(p, os.MkdirAll(dir, 0o755))
	must.NoError(p, os.WriteFile(filepath.Join(dir, "console-"+name+".png"), picture, 0o644))
}
