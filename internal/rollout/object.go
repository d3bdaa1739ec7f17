package rollout

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Policy reports what a run does with an object.
type Policy int

const (
	// Apply creates the object, and from then on keeps the desired fields as they are desired.
	Apply Policy = iota
	// CreateOnly creates the object and leaves one that exists as it is, to whomever it belongs.
	CreateOnly
	// Remove deletes the object with the UID of Wanted, which the caller has read and judged. An object that is gone is fine.
	Remove
)

// Adjust completes a desired object from the live one, which is nil when there is none, or objects to writing it by an error.
type Adjust func(wanted, live *unstructured.Unstructured) error

// Object is one desired object and the rules for it.
type Object struct {
	// Wanted is the object with the fields that are desired, and no others. It is not changed. An owner reference without UID is
	// completed from the owner's object, which may be part of an earlier phase.
	Wanted *unstructured.Unstructured
	Policy Policy
	// Absent objects are created without being read first, because the caller has found none. One that is there after all is read and judged as usual.
	Absent bool
	// Owner describes for people on whose behalf the object is written, e.g. `ClusterServiceVersion op.v1`.
	Owner string
	// Claim refuses live objects that belong to others; nil adopts whatever is there.
	Claim Claim
	// Remedy says what to do about a live object that Claim refuses; nil is what Claim says, or else to remove or rename one of the two.
	Remedy func(live *unstructured.Unstructured) string
	// Leave reports which live objects are not written although they are desired, whatever claim there is, because an owner that takes the caller's
	// place keeps them now. They are probed like others. nil is none.
	Leave func(live *unstructured.Unstructured) bool
	// Predecessors are field managers that wrote whole objects on the caller's behalf before, such as those of a program that the caller
	// takes the place of. What they set counts as set by the engine, so it goes when it is no longer desired. nil is none.
	Predecessors func(live *unstructured.Unstructured) []string
	// Displaces reports which live objects are deleted so that the desired one can be created: placeholders of an object with CreateOnly, and
	// others that differ in a field that cannot be changed. nil is none.
	Displaces func(live *unstructured.Unstructured) bool
	// Adjust is asked before anything is written; nil is no adjustment.
	Adjust Adjust
	// Probe reports what a written object still lacks; nil is nothing.
	Probe Probe
	// Look reads the object for another check of what it lacked, from where that is cheap, such as a cache, and returns nil for what is
	// not there; nil reads from the API server.
	Look func(ctx context.Context) (*unstructured.Unstructured, error)
	// Optional objects may fail, lack something, or be on their way out, without stopping the run.
	Optional bool
}

// Phase is a set of objects that do not depend on each other.
type Phase struct {
	Name    string
	Objects []Object
	// Barrier holds back the phases after this one until the probes of this one are satisfied, but for those of optional objects.
	Barrier bool
	// Independent phases do not stop later ones when an object of theirs cannot be written. A refused object stops every phase all the same.
	Independent bool
	// Client writes the objects of this phase; nil is the engine's.
	Client client.Client
}

// Render is a typed object as a desired one: with its GroupVersionKind and without a status. What Go types encode as null is left out, because applying
// a null would claim the field.
func Render(object client.Object) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, fmt.Errorf("render %s: %w", client.ObjectKeyFromObject(object), err)
	}
	delete(content, "status")
	return &unstructured.Unstructured{Object: withoutNulls(content).(map[string]any)}, nil
}

func withoutNulls(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, field := range v {
			if field == nil {
				delete(v, name)
			}
			withoutNulls(field)
		}
	case []any:
		for _, item := range v {
			withoutNulls(item)
		}
	}
	return value
}

// Ref names an object.
type Ref struct {
	schema.GroupVersionKind
	Namespace, Name string
}

// RefOf names an object.
func RefOf(u *unstructured.Unstructured) Ref {
	return Ref{GroupVersionKind: u.GroupVersionKind(), Namespace: u.GetNamespace(), Name: u.GetName()}
}

// String is the kind and the name, e.g. "Service ns/web".
func (r Ref) String() string {
	if r.Namespace == "" {
		return fmt.Sprintf("%s %s", r.Kind, r.Name)
	}
	return fmt.Sprintf("%s %s/%s", r.Kind, r.Namespace, r.Name)
}
