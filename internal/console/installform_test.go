package console

import (
	"net/url"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"

	"golang.org/x/net/html"
)

// byID are the elements of a page by their IDs, each of which is there once.
func (p shopPage) byID() map[string]*html.Node {
	p.t.Helper()
	found := map[string]*html.Node{}
	for n := range p.root.Descendants() {
		id := attribute(n, "id")
		if n.Type != html.ElementNode || id == "" {
			continue
		}
		if found[id] != nil {
			p.t.Errorf("two elements have the ID %q", id)
		}
		found[id] = n
	}
	return found
}

// wrongFields are the fields that a page says to be wrong, by their names, with what it says of each.
func (p shopPage) wrongFields() map[string]string {
	p.t.Helper()
	ids, marked := p.byID(), map[string]string{}
	for _, kind := range []string{"input", "select", "textarea"} {
		for _, n := range p.find(kind, "aria-invalid") {
			for id := range strings.FieldsSeq(attribute(n, "aria-describedby")) {
				if ids[id] == nil {
					p.t.Fatalf("field %s is described by %q, which is not there", attribute(n, "name"), id)
				}
				marked[attribute(n, "name")] += textOf(ids[id])
			}
		}
	}
	return marked
}

// TestWrongFieldsAreMarked: a field that is wrong says so to those who do not see it, what is wrong stands beside it, and all that was written stays in the form.
func TestWrongFieldsAreMarked(t *testing.T) {
	v := newShopping(t)
	must.Equal(t, "a form that is right", v.get("/install?package=greeter-operator&catalog=samples&namespace=ops").wrongFields(), map[string]string{})
	fields := url.Values{"package": {"greeter-operator"}, "catalog": {"samples"}, "namespace": {"Bad_Name"}, "name": {"A B"}, "account": {"No_One"},
		"config.string.watchNamespace": {"greet"}, "config.boolean.x": {"maybe"}, "config.object.a b": {"{}"}, "config": {"a: 1\n"}}
	page := v.page(v.post("/install", fields))
	page.harmless()
	marked := page.wrongFields()
	must.Equal(t, "fields that are marked", len(marked), 5)
	for name, text := range map[string]string{"namespace": "Bad_Name", "name": "A B", "account": "No_One", "config.boolean.x": "neither true nor false", "config.object.a b": "write it as YAML"} {
		must.Contain(t, name, marked[name], text)
	}
	ids := page.byID()
	for _, a := range page.find("a", "href") {
		if id, is := strings.CutPrefix(attribute(a, "href"), "#"); is {
			id = must.Value(url.PathUnescape(id))(t)
			if ids[id] == nil {
				t.Errorf("a link leads nowhere: #%s", id)
			}
		}
	}
	stays := page.fields("/install")
	for name := range fields {
		must.Equal(t, name, strings.TrimSpace(stays.Get(name)), strings.TrimSpace(fields.Get(name)))
	}

	must.Contain(t, "YAML", v.page(v.post("/install", url.Values{"package": {"greeter-operator"}, "catalog": {"samples"}, "config": {"a: [1"}})).wrongFields()["config"], "cannot be read as YAML")
	v0 := url.Values{"package": {"greeter-operator"}, "catalog": {"olm/samples"}, "namespace": {"ops"}, "channel": {"<script>"}, "version": {"A B"}, "mode": {"MultiNamespace"}, "watch": {"a,B!"}}
	marked = v.page(v.post("/install", v0)).wrongFields()
	must.Equal(t, "fields of the v0 API", len(marked), 3)
	must.Contain(t, "the namespaces to watch", marked["watch"], "B!")

	page = v.get("/install?package=greeter-operator&catalog=olm/samples&namespace=ops&api=v7")
	must.Contain(t, "what no field has", page.says(), `no API "v7"`)
	for _, a := range page.find("a", "href") {
		must.Lack(t, "links", attribute(a, "href"), "#field-api")
	}
}
