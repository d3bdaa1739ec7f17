package console

import (
	"context"
	"encoding/json"
	"html/template"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/test/must"

	"golang.org/x/net/html"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// unseenText has what terminals and browsers do not show, or let turn the text around it: each of these makes one name look like another.
const unseenText = "a\x01\x1b[31m\x7f\u0085b\u061c\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202ec\u2060\u2061\u2064\u2066\u2067\u2068\u2069\u2028\u2029d\ufeff\u00ad\u180e\u3164\u2800\U000e0041e"

// seenText has characters that are of the same categories, or near, and are shown.
const seenText = "Grüße, 日本語 עברית عربي ✔️ €\t–\n\u0600"

func TestUnseen(t *testing.T) {
	for _, r := range strings.NewReplacer("[31m", "", "a", "", "b", "", "c", "", "d", "", "e", "").Replace(unseenText) + "\x00" {
		if !unseen(r) {
			t.Errorf("%U is seen", r)
		}
	}
	for _, r := range seenText {
		if unseen(r) {
			t.Errorf("%U is not seen", r)
		}
	}
}

// showsAll fails where a text of a page has a character that nobody sees: in what is shown, and in attributes that are. Fields are sent back as they are.
func showsAll(t testing.TB, address string, root *html.Node) {
	t.Helper()
	for n := range root.Descendants() {
		if n.Type == html.TextNode && n.Parent.Data != "textarea" && strings.ContainsFunc(n.Data, unseen) {
			t.Errorf("%s shows in %s %.80q", address, n.Parent.Data, n.Data)
		}
		for _, a := range n.Attr {
			if a.Key != "value" && strings.ContainsFunc(a.Val, unseen) {
				t.Errorf("%s has in the attribute %s of %s %.80q", address, a.Key, n.Data, a.Val)
			}
		}
	}
}

// TestVisibly: what is not seen is marked in texts and attributes, and left in fields; the rest of the page stays as it is, to the byte.
func TestVisibly(t *testing.T) {
	for name, test := range map[string]struct{ page, want string }{
		"nothing":           {`<P Class=a>a &amp; b&#39;<br/></P><!-- c -->`, `<P Class=a>a &amp; b&#39;<br/></P><!-- c -->`},
		"a text":            {"<P>a\u202eb &amp; c</P>", "<P>a\ufffdb &amp; c</P>"},
		"a title":           {"<title>a\u202eb</title>", "<title>a\ufffdb</title>"},
		"an attribute":      {`<a title="x ` + "\u202e" + ` &#34;y&#34;" href="/b?c=d&amp;e">f</a>`, `<a title="x ` + "\ufffd" + ` &#34;y&#34;" href="/b?c=d&amp;e">f</a>`},
		"a field":           {`<input value="a` + "\u202e" + `b" title="` + "\u202e" + `">`, `<input value="a` + "\u202e" + `b" title="` + "\ufffd" + `">`},
		"a text field":      {"<textarea>a\u202eb <p>\u202e</textarea>c\u202ed", "<textarea>a\u202eb <p>\u202e</textarea>c\ufffdd"},
		"an empty one":      {"<textarea></textarea>c\u202ed", "<textarea></textarea>c\ufffdd"},
		"an option":         {"<option value=\"a\u202e\">a\u202e</option>", "<option value=\"a\u202e\">a\ufffd</option>"},
		"the end of a page": {"\u202e<p", "\ufffd<p"},
	} {
		var out strings.Builder
		must.NoError(t, show(&out, strings.NewReader(test.page)))
		must.Equal(t, name, out.String(), test.want)
	}
	var out strings.Builder
	must.NoError(t, visibly(&out, template.Must(template.New("x").Parse(`{{.}}`)), "x", seenText))
	must.Equal(t, "what is seen", out.String(), seenText)
}

// TestManifest: YAML with what is not seen says the same, and shows it.
func TestManifest(t *testing.T) {
	object := map[string]any{"kind": "Kite", "a" + unseenText: "x\n" + unseenText + "\n", "private": "\ue00065\ue001", "both": "\ue00065\ue001\u202e", "list": []any{unseenText, 1, true, nil, map[string]any{"n": "\u200b1"}}, "plain": "12", "seen": seenText}
	text := string(must.Value(messages.YAML(object))(t))
	shown := manifest(text + "---\n# \u202e is a comment\nb: |\n  \u202e x\n")
	if strings.ContainsFunc(shown, unseen) {
		t.Errorf("it has what is not seen: %q", shown)
	}
	must.Contain(t, "the escape", shown, `\u202E`, `\U000E0041`)
	first, second, _ := strings.Cut(shown, "---\n")
	var got, block map[string]any
	must.NoError(t, yaml.Unmarshal([]byte(first), &got))
	must.NoError(t, yaml.Unmarshal([]byte(second), &block))
	asJSON := func(value any) string { return string(must.Value(json.Marshal(value))(t)) }
	must.Equal(t, "the object", asJSON(got), asJSON(object))
	must.Equal(t, "a block", block["b"], any("\u202e x\n"))
	must.Equal(t, "one that has nothing of it", manifest("b:   1 # c\n"), "b:   1 # c\n")
	must.Equal(t, "a part of one", manifest("a: \"b\u202e"), `a: "b\u202E`)
}

// TestFieldsOfHostileText: what a user can edit is sent back as it was, to the byte, and programs get it as it is.
func TestFieldsOfHostileText(t *testing.T) {
	v := newTour(t, nil, operated()...)
	text := "# a\u202eb\u200b\napiVersion: example.com/v1\nkind: Kite\nmetadata: {name: c}\n"
	w := v.posts("/operands/kites.example.com/new", "namespace", "ops", "in", "ops", "text", text)
	page := v.parse(w)
	must.Equal(t, "the text", page.all("textarea", "name=text")[0].FirstChild.Data, text)
	must.Equal(t, "what was checked", attribute(page.all("input", "name=text")[0], "value"), text)
	showsAll(t, "the form", page.root)

	object := aKite("sky", "d", "x\u202ey\x7f")
	must.NoError(t, v.cluster.Create(context.Background(), object))
	const at = "/operands/kites.example.com/object?namespace=ops&in=sky&object=d"
	must.Contain(t, "YAML", v.shows(http.StatusOK, at).text("#yaml"), `text: "x\u202Ey\u007F"`)
	must.Contain(t, "for programs", answers[operandObjectPage](v, at).YAML, "x\u202ey")
}

// TestEntryPagesShowAll: the pages of users who are not logged in repeat what an address says, too.
func TestEntryPagesShowAll(t *testing.T) {
	s := serveCluster(t, nil)
	w := httptest.NewRecorder()
	s.console.cluster.show(w, http.StatusForbidden, entryPage{Text: unseenText, Remedy: unseenText, To: "/installed?" + url.Values{"q": {unseenText}}.Encode()})
	root := must.Value(html.Parse(strings.NewReader(w.Body.String())))(t)
	must.Contain(t, "the page", textOf(root), "[31m")
	showsAll(t, "the entry", root)
}

// TestEveryPageShowsAll: whatever an operator, a bundle, a custom resource or a catalog says in any field, there is no page that shows what is not seen.
func TestEveryPageShowsAll(t *testing.T) {
	objects := append(append(hostileSubscription(unseenText), hostileExtension(unseenText)...), offeredBy()...)
	waits := &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "install-3", OwnerReferences: []metav1.OwnerReference{{Kind: v1alpha1.SubscriptionKind, Name: "mine", UID: "sub"}}}}
	waits.Spec.Approval, waits.Spec.ClusterServiceVersionNames = v1alpha1.ApprovalManual, []string{unseenText}
	waits.Status.Phase, waits.Status.Message = v1alpha1.InstallPlanPhaseRequiresApproval, unseenText
	source := &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "toys"}, Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: unseenText, DisplayName: unseenText, Publisher: unseenText, Description: unseenText}}
	source.Status.Message = unseenText
	source.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "False", Reason: unseenText, Message: unseenText}}
	clustered := &olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: "toys"}, Spec: olmv1.ClusterCatalogSpec{Source: olmv1.CatalogSource{Type: olmv1.CatalogSourceTypeImage, Image: &olmv1.ImageSource{Ref: unseenText}}}}
	clustered.Status.Conditions = []metav1.Condition{{Type: olmv1.TypeServing, Status: "False", Reason: unseenText, Message: unseenText}}
	objects = append(objects, waits, source, clustered, hostileManifest(unseenText))
	v := newTour(t, nil, objects...)
	said := url.Values{"namespace": {"ops"}, "q": {unseenText}, "name": {unseenText}, "version": {unseenText}, "channel": {unseenText}, "image": {unseenText}, "package": {unseenText}, "catalog": {unseenText}, "graph": {unseenText},
		"from": {"install-1"}, "to": {"install-2"}, "in": {"sky"}, "object": {unseenText}, "kind": {"why-not"}, "text": {unseenText}, "config": {unseenText}}.Encode()
	names := strings.NewReplacer("{kind}", "Subscription", "{namespace}", "ops", "{definition}", "kites.example.com", "{page}", "console.md")
	visited := 0
	for _, pattern := range Paths(v.console) {
		if strings.HasPrefix(pattern, apiPrefix) || strings.HasPrefix(pattern, "/icon") {
			continue
		}
		path := names.Replace(pattern)
		for _, name := range []string{"mine", "toys", "evil"} { // of an operator, of a catalog, and of a package
			for _, question := range []string{"?namespace=ops", "?" + said} {
				address := strings.ReplaceAll(path, "{name}", name) + question
				w := v.ask(http.MethodGet, address, nil)
				if strings.Contains(w.Header().Get("Content-Type"), "text/html") {
					showsAll(t, address, v.parse(w).root)
					visited++
				}
			}
		}
	}
	must.Contain(t, "an operator", v.shows(http.StatusOK, "/operator/Subscription/ops/mine").text("main"), "[31m")
	must.Contain(t, "a waiting plan", v.shows(http.StatusOK, "/approvals?namespace=ops").text("main"), "[31m")
	must.Contain(t, "a catalog", v.shows(http.StatusOK, "/source/v0/ops/toys").text("main"), "[31m")
	if visited < 60 {
		t.Errorf("only %d pages were visited", visited)
	}
}
