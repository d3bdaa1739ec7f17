package console

import (
	"math"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"
)

// TestMarkdown shows descriptions of bundles, which anybody may have written.
func TestMarkdown(t *testing.T) {
	m := newMarkdown()
	for name, test := range map[string]struct{ in, want string }{
		"text":                              {"A *fine* `operator`.", "<p>A <em>fine</em> <code>operator</code>.</p>\n"},
		"headings below those of the page":  {"# One\n### Three\n## Two", "<h3>One</h3>\n<h4>Three</h4>\n<h4>Two</h4>\n"},
		"a heading of a low level is first": {"#### Deep\n##### Deeper", "<h3>Deep</h3>\n<h4>Deeper</h4>\n"},
		"a link":                            {"[site](https://example.com/x)", `<p><a href="https://example.com/x" rel="nofollow noreferrer noopener" target="_blank">site</a></p>` + "\n"},
		"an address":                        {"see https://example.com", `<p>see <a href="https://example.com" rel="nofollow noreferrer noopener" target="_blank">https://example.com</a></p>` + "\n"},
		"a link into the console":           {"[x](/installed)", "<p>x</p>\n"},
		"a script as a link":                {"[x](javascript:alert(1))", "<p>x</p>\n"},
		"a script as a link, hidden":        {"[x](JaVa&#x73;cript:alert(1)) [y](data:text/html;base64,PHNjcmlwdD4=) [z](vbscript:x)", "<p>x y z</p>\n"},
		"a script":                          {"<script>alert(1)</script>\n\nafter", "\n<p>after</p>\n"},
		"an element within a line":          {"a <img src=x onerror=alert(1)> b <b onclick=x>c</b>", "<p>a  b c</p>\n"},
		"a style":                           {`<div style="position:fixed">x</div>`, "\n"},
		"a picture":                         {"![the logo](https://example.com/l.png)", `<p><a href="https://example.com/l.png" rel="nofollow noreferrer noopener" target="_blank">the logo</a></p>` + "\n"},
		"a picture without a text":          {"![](https://example.com/l.png)", `<p><a href="https://example.com/l.png" rel="nofollow noreferrer noopener" target="_blank">picture</a></p>` + "\n"},
		"a picture within a link":           {"[![status](https://ci.example.com/b.svg)](https://ci.example.com)", `<p><a href="https://ci.example.com" rel="nofollow noreferrer noopener" target="_blank">status</a></p>` + "\n"},
		"a hostile text of a picture":       {"![<script>x</script>](https://example.com/l.png)", `<p><a href="https://example.com/l.png" rel="nofollow noreferrer noopener" target="_blank">&lt;script&gt;x&lt;/script&gt;</a></p>` + "\n"},
		"a picture of the console":          {"![x](/icon?catalog=a)", "<p>x</p>\n"},
		"a table":                           {"|a|b|\n|-|-|\n|1|<i>2</i>|", "<table>\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n<td>2</td>\n</tr>\n</tbody>\n</table>\n"},
		"invalid UTF-8":                     {"a\xff<\xfescript>b", "<p>a�&lt;�script&gt;b</p>\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, cut := m.html(test.in)
			must.Equal(t, "HTML", strings.ReplaceAll(string(got), "<!-- raw HTML omitted -->", ""), test.want)
			must.Equal(t, "cut", cut, false)
		})
	}
}

// TestHostileMarkdown is bounded in time and size, whatever it is.
func TestHostileMarkdown(t *testing.T) {
	m := newMarkdown()
	for name, in := range map[string]string{
		"long": strings.Repeat("é", 1<<20), "emphasis": strings.Repeat("*a_", 1<<18), "brackets": strings.Repeat("[", 1<<20), "pictures": strings.Repeat("![", 1<<20),
		"as many links as are understood": strings.Repeat("[a](", maxBrackets) + strings.Repeat("x", maxMarkdown), "as many quotes": strings.Repeat("> ", maxQuotes) + strings.Repeat("x", maxMarkdown), "as much emphasis": strings.Repeat("*a_", maxEmphasis/2) + strings.Repeat("x", maxMarkdown),
		"quotes": strings.Repeat("> ", 1<<19), "lists": strings.Repeat("- ", 1<<19), "links": strings.Repeat("[a](", 1<<18), "backticks": strings.Repeat("`a``", 1<<18),
		"autolinks": strings.Repeat("http://a.b ", 1<<17), "headings": strings.Repeat("# x\n", 1<<18), "tables": strings.Repeat("|a", 1<<18) + "\n" + strings.Repeat("|-", 1<<18),
	} {
		t.Run(name, func(t *testing.T) {
			most, took := must.Within(2*time.Second), time.Duration(math.MaxInt64)
			for attempt := 0; attempt < 3 && took > most; attempt++ { // the machine may do other things in one of them
				began := time.Now()
				got, cut := m.html(in)
				took = time.Since(began)
				if !cut || len(got) > 30*maxMarkdown {
					t.Errorf("it is cut: %t, %d bytes are left", cut, len(got))
				}
			}
			if took > most {
				t.Errorf("it took %v; the most allowed is %v", took, most)
			}
		})
	}
}
