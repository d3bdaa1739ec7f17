package console

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/docs"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/test/must"

	"golang.org/x/net/html"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// docsHave checks that an address of the documentation leads to a page, and to a heading of it where it names one.
func docsHave(t *testing.T, v *tour, address string) {
	t.Helper()
	path, heading, _ := strings.Cut(address, "#")
	page := v.shows(http.StatusOK, path)
	if heading == "" {
		return
	}
	for n := range page.root.Descendants() {
		if attribute(n, "id") == heading && strings.HasPrefix(n.Data, "h") {
			return
		}
	}
	t.Errorf("%s has no heading %s", path, heading)
}

// TestDocsOfTheTable: each place of the documentation that something leads to exists, and no two links say the same.
func TestDocsOfTheTable(t *testing.T) {
	v := newTour(t, nil)
	names := map[string]bool{}
	for about, link := range docLinks {
		docsHave(t, v, link.Address())
		if names[link.Name] || link.Name == "" {
			t.Errorf("the link about %s is called %q, as is another one", about, link.Name)
		}
		names[link.Name] = true
	}
	if _, err := docOf("nothing"); err == nil {
		t.Error("a link is known about what none is about")
	}
	for _, status := range []int{400, 403, 404, 409, 422, 502, 503, 504} {
		for _, path := range []string{"/install", "/install/create", "/package/a", "/catalog", "/approvals/approve", "/operands/a", "/why", "/source/v1/a", "/sources/add", "/operator/Subscription/a/b", "/jobs", "/nothing"} {
			must.Value(docOf(docOfError(status, path)))(t)
		}
	}
}

// TestDocs: every page is shown, and leads to pages and headings that there are.
func TestDocs(t *testing.T) {
	v := newTour(t, nil)
	size := 0
	for _, file := range must.Value(docs.Pages.ReadDir("."))(t) {
		page := v.shows(http.StatusOK, docsPath+file.Name())
		for n := range page.root.Descendants() {
			if href := attribute(n, "href"); n.Data == "a" && strings.HasPrefix(href, docsPath) {
				if name, _, _ := strings.Cut(strings.TrimPrefix(href, docsPath), "#"); !docsName.MatchString(name) {
					t.Errorf("%s leads to %s", file.Name(), href)
				} else if _, err := docs.Pages.ReadFile(name); err != nil {
					t.Errorf("%s leads to %s: %v", file.Name(), href, err)
				}
			}
			if n.Data == "img" && strings.Contains(attribute(n, "src"), "images/") {
				t.Errorf("%s has a picture that is not here", file.Name())
			}
		}
		readable(t, file.Name(), page.root)
		size += len(must.Value(docs.Pages.ReadFile(file.Name()))(t))
	}
	if size > 1<<20 {
		t.Errorf("the pages take %d bytes of each program: leave some out", size)
	}
}

// readable fails where a page is not as screen readers and telephones need it: headings in their order, table headers that say something, and what is wide in a region
// of its own, with a name that no other has.
func readable(t *testing.T, name string, root *html.Node) {
	t.Helper()
	last, regions := 1, map[string]bool{}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "h2", "h3", "h4", "h5", "h6":
			if level := int(n.Data[1] - '0'); within(n, "article") {
				if level > last+1 {
					t.Errorf("%s: heading %q of level %d is below one of level %d", name, textOf(n), level, last)
				}
				last = level
			}
		case "th":
			if textOf(n) == "" {
				t.Errorf("%s: a header of a table says nothing", name)
			}
		case "pre", "table":
			region := n
			if n.Data == "table" {
				region = n.Parent
			}
			label := attribute(region, "aria-label")
			if attribute(region, "role") != "region" || attribute(region, "tabindex") != "0" || label == "" || regions[label] {
				t.Errorf("%s: a %s is no region with a name of its own that can be scrolled: %v", name, n.Data, region.Attr)
			}
			regions[label] = true
		}
	}
}

// TestDocsWithoutAPage: the address of all documentation shows what there is.
func TestDocsWithoutAPage(t *testing.T) {
	v := newTour(t, nil)
	page := v.shows(http.StatusOK, "/docs")
	must.Equal(t, "the page", page.text("article"), v.shows(http.StatusOK, docsPath+allDocs).text("article"))
	must.Equal(t, "for programs", answers[docsPage](v, "/docs").Name, allDocs)
}

// TestDocsThatAreNot: a name that no page has leads nowhere else.
func TestDocsThatAreNot(t *testing.T) {
	v := newTour(t, nil)
	for _, name := range []string{"nothing.md", "docs.go", "..%2Fgo.mod", "images", "%3Cscript%3E"} {
		must.Contain(t, name, v.shows(http.StatusNotFound, docsPath+name).text("main"), "The documentation has no page", "/docs/README.md lists them")
	}
	var answer docsPage
	w := v.ask(http.MethodGet, "/api/docs/glossary.md", nil)
	must.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer))
	must.Equal(t, "for programs", answer.Title, "Glossary")
	must.Contain(t, "for programs", answer.Markdown, "# Glossary")
}

// TestPagesLeadToDocs: errors, verdicts, questions, approvals and catalogs lead to what the documentation has about them.
func TestPagesLeadToDocs(t *testing.T) {
	sub := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "mine", Annotations: map[string]string{ops.HeldBeforeKey: ""}}, Spec: &v1alpha1.SubscriptionSpec{Package: "kite"}}
	source := &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "toys"}, Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: "quay.io/a/b:c"}}
	v := newTour(t, nil, sub, source, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ops"}})
	for address, want := range map[string][]string{
		"/nothing": {"console"}, "/package/nothing?namespace=ops": {"catalog"}, "/installed?namespace=nope": {"installed"}, "/sources?namespace=../x": {"sources"}, "/approvals": {"approvals"}, "/why": {"why"}, "/sources": {"sources"},
		"/source/v0/ops/toys": {"health"}, "/operator/Subscription/ops/mine": {"windows", v1alpha1.SubscriptionKind}, "/operator/Subscription/ops/none": {"installed"},
	} {
		page := v.parse(v.ask(http.MethodGet, address, url.Values{}))
		var found []string
		for _, a := range page.all("a", "") {
			if href := attribute(a, "href"); strings.HasPrefix(href, docsPath) {
				found = append(found, href)
				docsHave(t, v, href)
			}
		}
		for _, about := range want {
			if !slices.Contains(found, docLinks[about].Address()) {
				t.Errorf("%s leads to %v, and not to %s", address, found, docLinks[about].Address())
			}
		}
	}
}
