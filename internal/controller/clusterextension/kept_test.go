package clusterextension

import (
	"fmt"
	"testing"
	"unicode/utf8"

	"fairlead.dev/fairlead/test/must"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What was rendered may have many megabytes: a manager with many extensions that are blocked does not keep all of it.
func TestFewContentsAreKept(t *testing.T) {
	k := newController(&environment{}).fetcher.rendered
	for i := range 3 * maxContents {
		k.Add(fmt.Sprint(i), &content{inputs: fmt.Sprint(i)})
		k.Add("always", &content{inputs: "always"})
	}
	if k.Len() != maxContents {
		t.Errorf("%d contents are kept, and may be %d", k.Len(), maxContents)
	}
	if made, ok := k.Get("always"); !ok || made.(*content).inputs != "always" {
		t.Error("what was used last is not there")
	}
	k.Remove("always")
	if _, ok := k.Get("always"); ok || k.Len() != maxContents-1 {
		t.Error("it was deleted, and is there")
	}
}

// TestContentThatNobodyUses is dropped: nothing says when the version that was refused is wanted again.
func TestContentThatNobodyUses(t *testing.T) {
	w := newWorld(t, want("my", "a", "1.0.0"), definition(1))
	w.brings("a.v2.0.0", definition(2))
	w.serve("cat", pkg("a", "1.0.0", "2.0.0"))
	w.settle("my")
	w.version("my", "2.0.0")
	w.pass("my")
	if _, ok := w.controller.fetcher.rendered.Get("my"); !ok {
		t.Fatalf("what was refused is not kept for the next pass: %s", w.condition("my", olmv1.TypeProgressing))
	}
	w.version("my", "7.0.0")
	w.pass("my")
	if _, ok := w.controller.fetcher.rendered.Get("my"); ok {
		t.Error("the objects of a version that is wanted no more are kept")
	}
}

// TestPropertiesOfRevisionsThatAreGone are dropped.
func TestPropertiesOfRevisionsThatAreGone(t *testing.T) {
	w := newWorld(t, want("my", "a", "1.0.0"), want("other", "b", ""))
	w.serve("cat", pkg("a", "1.0.0", "2.0.0"), pkg("b", "1.0.0"))
	w.settle("my")
	w.settle("other")
	w.version("my", "2.0.0")
	w.settle("my")
	w.settle("other")
	known := func() map[string]bool {
		out := map[string]bool{}
		for name := range w.controller.observer.properties.by {
			out[name] = true
		}
		return out
	}
	must.Equal(t, "of an archived revision nobody asks: -want +got", known(), map[string]bool{"my-2": true, "other-1": true})
	for _, r := range w.revisions("other") {
		w.must(w.client.Delete(t.Context(), &r))
	}
	w.must(w.client.Delete(t.Context(), &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: "other"}}))
	w.pass("my")
	must.Equal(t, "-want +got", known(), map[string]bool{"my-2": true})
}

// The reports of many CRDs are the same in every pass, whatever order a map has, and a large one leaves room for those after it.
func TestReportData(t *testing.T) {
	reports := map[string]string{"a": "short", "z": "last"}
	for i := range 9 {
		reports[fmt.Sprintf("m%d", i)] = string(make([]byte, maxReport-1)) + "äöü"
	}
	first := reportData(reports)
	total := 0
	for name, text := range first {
		if total += len(text); !utf8.ValidString(text) {
			t.Errorf("the text of %s is cut in the middle of a character", name)
		}
	}
	if total > 5*maxReport {
		t.Errorf("all together has %d bytes", total)
	}
	must.Equal(t, "small reports are left out because of large ones", first["a"], "short")
	must.Equal(t, "small reports are left out because of large ones", first["z"], "last")
	for name := range reports {
		if first[name] == "" {
			t.Errorf("nothing is said of %s", name)
		}
	}
	for range 20 {
		if diff := cmp.Diff(first, reportData(reports)); diff != "" {
			t.Fatal("the same findings make another report")
		}
	}
}
