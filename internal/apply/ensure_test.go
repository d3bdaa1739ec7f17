package apply

import (
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func secret(data map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret",
		"metadata": map[string]any{"namespace": "ns", "name": "key"}, "stringData": data}}
}

// TestEnsureOverwritesNothingThatSeemedMissing: another client makes the object between the look and the write.
func TestEnsureOverwritesNothingThatSeemedMissing(t *testing.T) {
	c := newCluster(t)
	theirs := secret(map[string]any{"key": "theirs"})
	if err := c.Create(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	if err := Ensure(t.Context(), c, secret(map[string]any{"key": "ours"}), true, manager); !apierrors.IsAlreadyExists(err) {
		t.Errorf("what was made in between is written over: %v", err)
	}
	live := secret(nil)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(live), live); err != nil {
		t.Fatal(err)
	}
	if got, _, _ := unstructured.NestedString(live.Object, "stringData", "key"); got == "ours" {
		t.Errorf("the Secret holds %v", live.Object)
	}
}

// TestEnsureTakesBackWhatItCreated: a field of the create that is no longer wanted goes with the first apply, and later ones are one request again.
func TestEnsureTakesBackWhatItCreated(t *testing.T) {
	c := newCluster(t)
	annotated := func(names ...string) *unstructured.Unstructured {
		s := secret(nil)
		annotations := map[string]string{}
		for _, n := range names {
			annotations[n] = "x"
		}
		s.SetAnnotations(annotations)
		return s
	}
	if err := Ensure(t.Context(), c, annotated("stays", "goes"), true, manager); err != nil {
		t.Fatal(err)
	}
	wanted := annotated("stays", "comes")
	if err := Ensure(t.Context(), c, wanted, false, manager); err != nil {
		t.Fatal(err)
	}
	if a := wanted.GetAnnotations(); a["stays"] == "" || a["comes"] == "" || a["goes"] != "" {
		t.Errorf("the annotations are %v", a)
	}
	before := len(c.writes)
	if err := Ensure(t.Context(), c, annotated("stays"), false, manager); err != nil {
		t.Fatal(err)
	}
	if got := c.writes[before:]; !slices.Equal(got, []string{"apply key"}) {
		t.Errorf("it takes the requests %v", got)
	}
}
