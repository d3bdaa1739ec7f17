package crd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/test/must"
)

// answer is a reader that answers every list alike.
type answer struct {
	client.Reader
	err   error
	items []metav1.PartialObjectMetadata
	next  string // where the next page begins
}

func (a answer) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	list.(*metav1.PartialObjectMetadataList).Items = a.items
	list.SetContinue(a.next)
	return a.err
}

// What cannot be counted is not nothing: whoever asks deletes what has nothing.
func TestCountOfWhatCannotBeRead(t *testing.T) {
	notFound := apierrors.NewNotFound(schema.GroupResource{Group: "example.com", Resource: "widgets"}, "")
	served := apiextensionsv1.CustomResourceDefinitionVersion{Name: "v1", Served: true, Storage: true}
	established := apiextensionsv1.CustomResourceDefinitionCondition{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue}
	for name, test := range map[string]struct {
		version    apiextensionsv1.CustomResourceDefinitionVersion
		conditions []apiextensionsv1.CustomResourceDefinitionCondition
		err        error
		wants      string // part of the error; empty is a count of none
	}{
		"no version is served":                    {apiextensionsv1.CustomResourceDefinitionVersion{Name: "v1", Storage: true}, nil, nil, "serves no version"},
		"it was never established":                {served, nil, notFound, ""},
		"nobody knows its kind":                   {served, nil, &meta.NoKindMatchError{}, ""},
		"it is established, and yet is not there": {served, []apiextensionsv1.CustomResourceDefinitionCondition{established}, notFound, "count the widgets.example.com objects"},
		"the request fails":                       {served, nil, errors.New("connection refused"), "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			crd := &definition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{Group: "example.com",
				Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Kind: "Widget"}, Versions: []apiextensionsv1.CustomResourceDefinitionVersion{test.version}},
				Status: apiextensionsv1.CustomResourceDefinitionStatus{Conditions: test.conditions}}
			crd.Name = "widgets.example.com"
			n, _, err := countStored(t.Context(), answer{err: test.err}, crd)
			switch {
			case n != 0:
				t.Errorf("counted %d objects", n)
			case test.wants == "" && err != nil, test.wants != "" && (err == nil || !strings.Contains(err.Error(), test.wants)):
				t.Errorf("the error is %v; want %q", err, test.wants)
			}
		})
	}
}

// TestCountWithoutEstimate: an API server need not estimate how many objects follow. Then they are counted, up to a number from which on it is "at least".
func TestCountWithoutEstimate(t *testing.T) {
	crd := &definition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true}}}}
	for objects, want := range map[int]struct {
		n    int64
		text string
	}{0: {0, "no custom resources"}, 1: {1, "1 custom resource"}, 2: {2, "2 custom resources"}, 9: {9, "9 custom resources"}, 501: {501, "501 custom resources"},
		1000: {1000, "1000 custom resources"}, 1001: {1001, "at least 1000 custom resources"}, 99_000: {1001, "at least 1000 custom resources"}} {
		s := &shelf{objects: objects}
		if n, atLeast, err := countStored(t.Context(), s, crd); n != want.n || atLeast != (objects > 1001) || err != nil || s.reads > 3 {
			t.Errorf("of %d: %d, %t, %v, after %d reads", objects, n, atLeast, err, s.reads)
		}
		must.Equal(t, "number", Number(t.Context(), &shelf{objects: objects}, nil, crd), want.text)
	}
	_, _, err := countStored(t.Context(), &shelf{objects: 9, expire: map[int]string{2: ""}}, crd)
	must.Fail(t, "a count that is cut short", err, "count the")
	estimate := int64(25_000)
	first := &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{Continue: "next", RemainingItemCount: &estimate}, Items: make([]metav1.PartialObjectMetadata, 1)}
	if n, more, err := Total(t.Context(), nil, first); n != 25_001 || more || err != nil {
		t.Errorf("with an estimate: %d, %t, %v", n, more, err)
	}
}

// TestBesides looks through objects until one is not known.
func TestBesides(t *testing.T) {
	crd := &definition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true}}}}
	some := map[client.ObjectKey]bool{}
	for i := range 1200 {
		some[client.ObjectKey{Name: fmt.Sprintf("w%d", i)}] = true
	}
	for objects, want := range map[int]bool{0: false, 1: false, 1200: false, 1201: true, 100_000: true} {
		s := &shelf{objects: objects, expire: map[int]string{2: "500"}}
		if got, err := besides(t.Context(), s, crd, some); got != want || err != nil || s.reads > 4 {
			t.Errorf("of %d: %t, %v after %d reads", objects, got, err, s.reads)
		}
	}
	if _, err := besides(t.Context(), answer{err: errors.New("connection refused")}, crd, some); err == nil {
		t.Error("what cannot be read is none")
	}
	if _, err := besides(t.Context(), answer{}, &definition{}, some); !errors.Is(err, ErrUnserved) {
		t.Errorf("of a CustomResourceDefinition without served versions: %v", err)
	}
}

// TestHeld names what waits for finalizers, and few of many.
func TestHeld(t *testing.T) {
	crd := &definition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{Group: "example.com", Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Kind: "Widget"},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true}}}}
	crd.Name = "widgets.example.com"
	var items []metav1.PartialObjectMetadata
	for i := range 9 {
		o := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprint("w", i)}}
		if i > 0 {
			o.Finalizers = []string{"example.com/up", "example.com/down"}
		}
		items = append(items, o)
	}
	got, err := Held(t.Context(), answer{items: items[:2]}, crd)
	if diff := cmp.Diff([]string{"Widget ns/w1 waits for its finalizers example.com/up, example.com/down"}, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	got, err = Held(t.Context(), answer{items: items}, crd)
	if err != nil || len(got) != heldTold+1 || got[heldTold] != "3 more objects of widgets.example.com wait for theirs" {
		t.Errorf("%v %q", err, got)
	}
	got = must.Value(Held(t.Context(), answer{items: items, next: "on"}, crd))(t)
	must.Equal(t, "of more than were checked", got[heldTold], "at least 3 more objects of widgets.example.com wait for theirs")
	must.Empty(t, "of a kind that nobody knows", must.Value(Held(t.Context(), answer{err: &meta.NoKindMatchError{}}, crd))(t))
	crd.Spec.Versions[0].Served = false
	if _, err := Held(t.Context(), answer{}, crd); !errors.Is(err, ErrUnserved) {
		t.Errorf("of a CustomResourceDefinition without served versions: %v", err)
	}
}
