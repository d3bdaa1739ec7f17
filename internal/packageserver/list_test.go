package packageserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
	"fairlead.dev/fairlead/test/must"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// names are the packages of an answer with their catalogs, as namespace/name of namespace/catalog.
func (w *world) names(t *testing.T, path string) []string {
	t.Helper()
	answer := w.ask(t, path)
	if answer.Code != http.StatusOK {
		t.Fatalf("%s: %d %s", path, answer.Code, answer.Body)
	}
	var l packagesv1.PackageManifestList
	must.NoError(t, json.Unmarshal(answer.Body.Bytes(), &l))
	names := []string{}
	for _, p := range l.Items {
		names = append(names, p.Namespace+"/"+p.Name+" of "+p.Status.CatalogSourceNamespace+"/"+p.Status.CatalogSource)
	}
	return names
}

func TestWhoSeesWhat(t *testing.T) {
	w := newWorld(t)
	w.offer(t, "olm/zeta", "b@1.0.0", "a@1.0.0")
	w.offer(t, "olm/first", "a@2.0.0")
	w.sources[1].Spec.Priority = 10
	w.refresh(t)
	w.offer(t, "mine/own", "a@3.0.0", "c@1.0.0")
	w.offer(t, "other/theirs", "d@1.0.0")
	w.excludes["alone"] = true
	w.offer(t, "alone/own", "e@1.0.0")
	tests := map[string]struct {
		path string
		want []string
	}{
		"its own before the global ones, those by priority": {"namespaces/mine/packagemanifests", []string{
			"mine/a of mine/own", "mine/a of olm/first", "mine/a of olm/zeta", "mine/b of olm/zeta", "mine/c of mine/own"}},
		"only global ones":            {"namespaces/none/packagemanifests", []string{"none/a of olm/first", "none/a of olm/zeta", "none/b of olm/zeta"}},
		"the global namespace itself": {"namespaces/olm/packagemanifests", []string{"olm/a of olm/first", "olm/a of olm/zeta", "olm/b of olm/zeta"}},
		"without the global ones":     {"namespaces/alone/packagemanifests", []string{"alone/e of alone/own"}},
		"everything": {"packagemanifests", []string{"alone/e of alone/own", "mine/a of mine/own", "mine/c of mine/own",
			"olm/a of olm/first", "olm/a of olm/zeta", "olm/b of olm/zeta", "other/d of other/theirs"}},
		"by label of the catalog":   {"namespaces/mine/packagemanifests?labelSelector=catalog%3Dzeta", []string{"mine/a of olm/zeta", "mine/b of olm/zeta"}},
		"by label of the namespace": {"packagemanifests?labelSelector=catalog-namespace%3Dother", []string{"other/d of other/theirs"}},
		"by label of the source":    {"packagemanifests?labelSelector=of%3Dfirst", []string{"olm/a of olm/first"}},
		"by label of the operator":  {"namespaces/alone/packagemanifests?labelSelector=kind%3Dtest", []string{"alone/e of alone/own"}},
		"by a label nobody has":     {"packagemanifests?labelSelector=kind%3Dother", []string{}},
		"by name":                   {"packagemanifests?fieldSelector=metadata.name%3Db", []string{"olm/b of olm/zeta"}},
		"by namespace":              {"packagemanifests?fieldSelector=metadata.namespace%3Dother", []string{"other/d of other/theirs"}},
		"not by name":               {"namespaces/none/packagemanifests?fieldSelector=metadata.name%21%3Da", []string{"none/b of olm/zeta"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			must.Equal(t, "result", w.names(t, test.path), test.want)
		})
	}
	answer := w.ask(t, "packagemanifests?fieldSelector=status.packageName%3Da")
	if answer.Code != http.StatusBadRequest || !strings.Contains(answer.Body.String(), "field label not supported: status.packageName") {
		t.Errorf("another field: %d %s", answer.Code, answer.Body)
	}
}

func TestGetIsTheFirstOfTheList(t *testing.T) {
	w := newWorld(t)
	w.offer(t, "olm/global", "a@1.0.0")
	w.offer(t, "mine/own", "a@2.0.0")
	for namespace, want := range map[string]string{"mine": "a.v2.0.0", "other": "a.v1.0.0"} {
		var p packagesv1.PackageManifest
		must.NoError(t, json.Unmarshal(w.ask(t, "namespaces/"+namespace+"/packagemanifests/a").Body.Bytes(), &p))
		if p.Kind != "PackageManifest" || p.Namespace != namespace || p.Status.Channels[0].CurrentCSV != want || !p.CreationTimestamp.Time.Equal(created.Time) {
			t.Errorf("in namespace %s: %+v", namespace, p)
		}
	}
	if answer := w.ask(t, "namespaces/mine/packagemanifests/b"); answer.Code != http.StatusNotFound {
		t.Errorf("a package that is not there: %d %s", answer.Code, answer.Body)
	}
}

// TestListIsWrittenAsTheMachineryWould compares the bytes of the short way with those of the API machinery.
func TestListIsWrittenAsTheMachineryWould(t *testing.T) {
	w := newWorld(t)
	w.offer(t, "olm/global", "a@1.0.0", "b@1.0.0")
	seen := w.storage.present.now().offers("mine", "olm")
	for name, offers := range map[string][]offer{"empty": {}, "two": seen} {
		t.Run(name, func(t *testing.T) {
			l := newList(page{offers: offers, revision: 7, next: "token", remaining: 3}, nil)
			var got, want bytes.Buffer
			must.NoError(t, l.write(&form{w: &got}))
			all := must.Value(l.whole())(t)
			must.NoError(t, json.NewEncoder(&want).Encode(all))
			must.Equal(t, "result", got.String(), want.String())
		})
	}
	// The short way must be the one that is taken.
	pretty, short := w.ask(t, "packagemanifests?pretty=true").Body.Bytes(), w.ask(t, "packagemanifests").Body.Bytes()
	var compact bytes.Buffer
	must.NoErrorf(t, json.Compact(&compact, pretty), "the list for people has bytes without blanks, the other")
	must.Equal(t, "the list for people has bytes without blanks, the other", compact.Len(), len(bytes.TrimSpace(short)))
	if jsonIdentifier == "" || !bytes.HasPrefix(short, []byte(`{"kind":"PackageManifestList"`)) {
		t.Errorf("the list begins with %.80s", short)
	}
}

func TestTable(t *testing.T) {
	w := newWorld(t)
	w.offer(t, "olm/global", "a@1.0.0")
	const asTable = "Accept: application/json;as=Table;v=v1;g=meta.k8s.io"
	for _, path := range []string{"packagemanifests", "namespaces/olm/packagemanifests/a"} {
		for include, has := range map[string]string{"": "PartialObjectMetadata", "?includeObject=Object": `"packageName":"a"`, "?includeObject=None": `"object":null`} {
			var table metav1.Table
			body := w.ask(t, path+include, asTable).Body
			must.NoError(t, json.Unmarshal(body.Bytes(), &table))
			var columns []string
			for _, c := range table.ColumnDefinitions {
				columns = append(columns, c.Name)
			}
			if !slices.Equal(columns, []string{"Name", "Catalog", "Age"}) || len(table.Rows) != 1 || len(table.Rows[0].Cells) != 3 ||
				table.Rows[0].Cells[0] != "a" || table.Rows[0].Cells[1] != "Catalog global" || !strings.Contains(body.String(), has) {
				t.Errorf("%s%s: %s", path, include, body)
			}
		}
	}
	w.sources[0].CreationTimestamp = metav1.Time{}
	w.refresh(t)
	must.Contain(t, "the age of a catalog that was never created", w.ask(t, "packagemanifests", asTable).Body.String(), `"\u003cunknown\u003e"`)
}

func TestMetadataList(t *testing.T) {
	w := newWorld(t)
	w.offer(t, "olm/global", "a@1.0.0")
	body := w.ask(t, "packagemanifests", "Accept: application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io").Body.String()
	if !strings.Contains(body, `"catalog":"global"`) || strings.Contains(body, "packageName") {
		t.Errorf("got %s", body)
	}
}

func TestPages(t *testing.T) {
	w := newWorld(t)
	w.offer(t, "olm/global", "a@1.0.0", "b@1.0.0", "c@1.0.0", "d@1.0.0")
	w.offer(t, "olm/second", "b@1.0.0")
	all := w.names(t, "namespaces/x/packagemanifests")
	for limit := 1; limit <= 6; limit++ {
		var got []string
		token, pages := "", 0
		for {
			path := "namespaces/x/packagemanifests?limit=" + string(rune('0'+limit)) + "&continue=" + url.QueryEscape(token)
			got = append(got, w.names(t, path)...)
			var l packagesv1.PackageManifestList
			must.NoError(t, json.Unmarshal(w.ask(t, path).Body.Bytes(), &l))
			if l.Continue != "" && *l.RemainingItemCount != int64(len(all)-len(got)) {
				t.Errorf("limit %d: %d items are said to remain after %d of %d", limit, *l.RemainingItemCount, len(got), len(all))
			}
			if token = l.Continue; token == "" {
				break
			}
			if pages++; pages > 10 {
				t.Fatalf("limit %d: there is no end", limit)
			}
		}
		must.Equal(t, fmt.Sprintf("limit %d", limit), got, all)
	}
	if answer := w.ask(t, "packagemanifests?limit=1&continue=nonsense"); answer.Code != http.StatusBadRequest {
		t.Errorf("a token from nowhere: %d %s", answer.Code, answer.Body)
	}
	// A package that goes in between does not make the next page repeat or skip others.
	var first packagesv1.PackageManifestList
	must.NoError(t, json.Unmarshal(w.ask(t, "namespaces/x/packagemanifests?limit=2").Body.Bytes(), &first))
	w.publish(t, "olm/global", "b@1.0.0", "c@1.0.0", "d@1.0.0")
	rest := w.names(t, "namespaces/x/packagemanifests?continue="+url.QueryEscape(first.Continue))
	must.Equal(t, "after a change", rest, all[2:])
}

func TestRevisions(t *testing.T) {
	w := newWorld(t)
	w.offer(t, "olm/global", "a@1.0.0")
	before := w.revision()
	w.publish(t, "olm/global", "a@1.1.0")
	now := w.revision()
	tests := map[string]int{
		"":                  http.StatusOK,
		"resourceVersion=0": http.StatusOK,
		"resourceVersion=5": http.StatusOK,
		"resourceVersion=" + now + "&resourceVersionMatch=Exact":    http.StatusOK,
		"resourceVersion=" + before + "&resourceVersionMatch=Exact": http.StatusGone,
		"resourceVersion=5&resourceVersionMatch=Exact":              http.StatusGone,
		"resourceVersion=" + revisionText(1<<62):                    http.StatusGatewayTimeout,
		"resourceVersion=x":                                         http.StatusBadRequest,
	}
	for query, want := range tests {
		if answer := w.ask(t, "packagemanifests?"+query); answer.Code != want {
			t.Errorf("%s: %d, want %d: %s", query, answer.Code, want, answer.Body)
		}
	}
}
