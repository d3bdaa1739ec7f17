package console

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"html/template"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"fairlead.dev/fairlead/docs"
	"fairlead.dev/fairlead/internal/messages"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// docsPath is where the pages of the documentation are.
const docsPath = "/docs/"

// allDocs is the page that leads to all others.
const allDocs = "README.md"

// docsPage is a page of the documentation.
type docsPage struct {
	Name     string        `json:"name"`
	Title    string        `json:"title"`
	Markdown string        `json:"markdown"`
	HTML     template.HTML `json:"-"`
}

func (p *docsPage) pageTitle() string { return p.Title }

// docsName is how a page may be called.
var docsName = regexp.MustCompile(`^[A-Za-z0-9-]+\.md$`)

// docsPart shows the documentation. It says nothing of the cluster, and is read with no rights.
func docsPart() part {
	page := func(_ context.Context, q *query) (any, error) { return docsOf(cmp.Or(q.path("page"), allDocs)) }
	return part{views: []view{{path: docsPath + "{page}", template: "docs", title: "Documentation", load: page}, {path: strings.TrimSuffix(docsPath, "/"), template: "docs", title: "Documentation", load: page}}}
}

// docsOf is a page by the name of its file.
func docsOf(name string) (*docsPage, error) {
	missing := &statusError{http.StatusNotFound, fmt.Sprintf("The documentation has no page %q", messages.Line(name, maxAsked)), "choose one of its pages: " + docsPath + allDocs + " lists them"}
	if !docsName.MatchString(name) {
		return nil, missing
	}
	source, err := docs.Pages.ReadFile(name)
	if err != nil {
		return nil, missing
	}
	p := &docsPage{Name: name, Markdown: string(source)}
	title, _, _ := strings.Cut(p.Markdown, "\n")
	p.Title = strings.TrimPrefix(title, "# ")
	p.HTML, err = docsWriter().html(source)
	return p, err
}

// docsMarkdown makes HTML of pages. They are ours, and get no more than they need all the same.
type docsMarkdown struct {
	writer goldmark.Markdown
	policy *bluemonday.Policy
}

var docsWriter = sync.OnceValue(func() docsMarkdown {
	policy := bluemonday.NewPolicy()
	policy.AllowElements("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong", "table", "thead", "tbody", "tr", "th", "td")
	policy.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	policy.AllowAttrs("id").Matching(regexp.MustCompile(`^[a-z0-9_-]+$`)).OnElements("h1", "h2", "h3", "h4", "h5", "h6")
	policy.AllowAttrs("href").Matching(regexp.MustCompile(`^(https?://|#|` + docsPath + `[A-Za-z0-9-]+\.md(#|$))`)).OnElements("a")
	policy.AllowURLSchemes("http", "https")
	policy.AllowRelativeURLs(true)
	policy.RequireParseableURLs(true)
	policy.RequireNoReferrerOnFullyQualifiedLinks(true)
	policy.AddTargetBlankToFullyQualifiedLinks(true)
	return docsMarkdown{goldmark.New(goldmark.WithExtensions(extension.Table),
		goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithASTTransformers(util.Prioritized(docsLinks{}, 100)))), policy}
})

// wide are the elements that may be wider than a telephone.
var wide = regexp.MustCompile("<pre>|<table>|</table>|<th></th>")

// scrolled lets what is wide be scrolled by itself, each as a region with a name of its own. The corner of a table that says nothing is no header.
func scrolled(page string) string {
	codes, tables := 0, 0
	return wide.ReplaceAllStringFunc(page, func(element string) string {
		switch element {
		case "<pre>":
			codes++
			return fmt.Sprintf(`<pre tabindex="0" role="region" aria-label="Example %d">`, codes)
		case "<table>":
			tables++
			return fmt.Sprintf(`<div class="scroll" tabindex="0" role="region" aria-label="Table %d"><table>`, tables)
		case "</table>":
			return "</table></div>"
		}
		return "<td></td>"
	})
}

func (m docsMarkdown) html(source []byte) (template.HTML, error) {
	var out bytes.Buffer
	if err := m.writer.Convert(source, &out); err != nil {
		return "", fmt.Errorf("make HTML of the documentation: %w", err)
	}
	return template.HTML(scrolled(m.policy.Sanitize(out.String()))), nil //nolint:gosec // it is sanitised
}

// docsLinks leads from page to page within the console. Other files of the project are not here, nor are pictures, for which their texts stand.
type docsLinks struct{}

// Transform gives links to pages their addresses.
func (docsLinks) Transform(document *ast.Document, reader text.Reader, _ parser.Context) {
	for _, link := range nodes[*ast.Link](document) {
		if page, _, _ := strings.Cut(string(link.Destination), "#"); docsName.MatchString(page) {
			link.Destination = append([]byte(docsPath), link.Destination...)
		}
	}
	for _, p := range nodes[*ast.Image](document) {
		said := ast.NewString(p.Text(reader.Source())) //nolint:staticcheck // the text of its children, without their form
		p.Parent().ReplaceChild(p.Parent(), p, said)
	}
}
