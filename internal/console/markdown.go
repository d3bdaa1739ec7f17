package console

import (
	"bytes"
	"html/template"
	"strings"
	"unicode/utf8"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// maxMarkdown bounds a description that is shown, in bytes: the longest of the public ones has 34 kB.
const maxMarkdown = 36 << 10

// markdown shows descriptions. HTML in them is left out, pictures are links to them, and headings are below those of the page.
type markdown struct {
	writer goldmark.Markdown
	policy *bluemonday.Policy
}

func newMarkdown() *markdown {
	policy := bluemonday.NewPolicy()
	policy.AllowElements("p", "br", "hr", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong", "del", "table", "thead", "tbody", "tr", "th", "td")
	policy.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	policy.AllowAttrs("href").OnElements("a")
	policy.AllowURLSchemes("http", "https", "mailto")
	policy.AllowRelativeURLs(false) // they would lead into the console
	policy.RequireParseableURLs(true)
	policy.RequireNoFollowOnLinks(true)
	policy.RequireNoReferrerOnLinks(true)
	policy.AddTargetBlankToFullyQualifiedLinks(true) // with noopener
	transform := parser.WithASTTransformers(util.Prioritized(plainer{}, 100))
	return &markdown{goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Linkify), goldmark.WithParserOptions(transform)), policy}
}

// html is a description as HTML. Cut is true where it is longer than what is shown.
func (m *markdown) html(source string) (shown template.HTML, cut bool) {
	source = strings.ToValidUTF8(source, "�")
	if len(source) > maxMarkdown {
		end := maxMarkdown
		for end > 0 && !utf8.RuneStart(source[end]) {
			end--
		}
		source, cut = source[:end], true
	}
	var out bytes.Buffer
	if tangled(source) || m.writer.Convert([]byte(source), &out) != nil {
		return template.HTML("<pre>" + template.HTMLEscapeString(source) + "</pre>"), cut //nolint:gosec // it is escaped
	}
	return template.HTML(m.policy.SanitizeBytes(out.Bytes())), cut //nolint:gosec // it is sanitised: this is what the policy is for
}

// Bounds of what takes time that grows with its square to be understood: no public description has a tenth of it.
const (
	maxBrackets = 640
	maxEmphasis = 4000
	maxQuotes   = 3000
)

// tangled reports whether a description is made to take long: it is shown as it was written.
func tangled(source string) bool {
	return strings.Count(source, "[") > maxBrackets || strings.Count(source, ">") > maxQuotes ||
		strings.Count(source, "*")+strings.Count(source, "_") > maxEmphasis
}

// plainer makes of a description what may be a part of a page.
type plainer struct{}

// Transform puts links in the place of pictures, and headings below the second level, none of them more than one below the one before.
func (plainer) Transform(document *ast.Document, reader text.Reader, _ parser.Context) {
	headings := nodes[*ast.Heading](document)
	highest := 6
	for _, h := range headings {
		highest = min(highest, h.Level)
	}
	last := 2
	for _, h := range headings {
		h.Level = min(6, last+1, 3+h.Level-highest)
		last = h.Level
	}
	for _, p := range nodes[*ast.Image](document) {
		replacePicture(p, reader.Source())
	}
}

// nodes are those of a kind in a document, which may be replaced while one goes through them.
func nodes[T ast.Node](document *ast.Document) (found []T) {
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // this function never fails
		if of, is := n.(T); is && entering {
			found = append(found, of)
		}
		return ast.WalkContinue, nil
	})
	return found
}

// replacePicture puts a link to a picture in its place; within a link, which leads elsewhere already, its text.
func replacePicture(p *ast.Image, source []byte) {
	alt := strings.TrimSpace(string(p.Text(source))) //nolint:staticcheck // the text of its children, without their form
	if alt == "" {
		alt = "picture"
	}
	said := ast.NewString([]byte(template.HTMLEscapeString(alt)))
	said.SetCode(true) // as it is: it is escaped
	var in ast.Node = said
	within := false
	for parent := p.Parent(); parent != nil; parent = parent.Parent() {
		if parent.Kind() == ast.KindLink {
			within = true
		}
	}
	if !within {
		link := ast.NewLink()
		link.Destination = p.Destination
		link.AppendChild(link, said)
		in = link
	}
	p.Parent().ReplaceChild(p.Parent(), p, in)
}
