package crd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/messages"
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ErrUnserved says that the objects of a CRD cannot be read, because it serves no version.
var ErrUnserved = errors.New("the CustomResourceDefinition serves no version; set served: true for one of its versions")

// listOf returns an empty list of the objects of a CRD, to read them in the version in which that is best. The verb is for the error of one that has none.
func listOf(crd *definition, verb string) (*metav1.PartialObjectMetadataList, error) {
	version := ReadVersion(crd)
	if version == "" {
		return nil, fmt.Errorf("%s the %s objects that are stored: %w", verb, crd.Name, ErrUnserved)
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(listIn(crd, version))
	return list, nil
}

// countStored is how many objects of a CRD are stored, as the API server estimates it; there are none only where it is 0. Without an estimate they are
// counted, as Total does. Where they cannot be read, it fails: to delete the CRD would delete them nevertheless.
func countStored(ctx context.Context, reader client.Reader, crd *definition) (n int64, atLeast bool, err error) {
	list, err := listOf(crd, "count")
	if err != nil { // there may be some from the time when a version was served
		return 0, false, err
	}
	err = reader.List(ctx, list, client.Limit(1))
	switch {
	case isUnserved(err) && !apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established):
		return 0, false, nil // no one can have written one
	case err != nil:
		return 0, false, fmt.Errorf("count the %s objects that are stored: %w", crd.Name, err)
	}
	if n, atLeast, err = Total(ctx, reader, list); err != nil {
		return 0, false, fmt.Errorf("count the %s objects that are stored: %w", crd.Name, err)
	}
	return n, atLeast, nil
}

// mostCounted is the number of objects beyond which a number is not exact in messages, so that a status which reports it comes to rest, and up to which
// they are read where an API server does not estimate how many there are.
const mostCounted = 1000

// Total is how many objects there are of which a list holds the first. An API server need not estimate how many follow, as with a selector, or where it
// stores them in something else than etcd: then their metadata are read, up to mostCounted. atLeast: there may be more.
func Total(ctx context.Context, reader client.Reader, first *metav1.PartialObjectMetadataList) (n int64, atLeast bool, err error) {
	n = int64(len(first.Items))
	if first.RemainingItemCount != nil {
		return n + *first.RemainingItemCount, false, nil
	}
	p := &pages{reader: reader, token: first.Continue}
	for p.token != "" && n <= mostCounted {
		next := &metav1.PartialObjectMetadataList{}
		next.SetGroupVersionKind(first.GroupVersionKind())
		if err := p.next(ctx, next, largestPage); err != nil {
			return 0, false, err
		}
		n += int64(len(next.Items))
	}
	return n, p.token != "", nil
}

// Number says how many custom resources a CRD has, or that it is not known, and why: "3 custom resources". A nil count asks the reader.
func Number(ctx context.Context, reader client.Reader, count Count, crd *definition) string {
	if count == nil {
		count = countStored
	}
	n, atLeast, err := count(ctx, reader, crd)
	if err != nil {
		return "an unknown number of custom resources (" + messages.Error(err) + ")"
	}
	return customResources(n, atLeast)
}

// customResources says in messages how many custom resources there are.
func customResources(n int64, atLeast bool) string {
	switch {
	case n == 0:
		return "no custom resources"
	case n > mostCounted || atLeast:
		return "at least " + safetext.Count(int(min(n, mostCounted)), "custom resource")
	default:
		return safetext.Count(int(n), "custom resource")
	}
}

// besides reports whether any object of a CRD is stored besides some. It reads as many as these are, and one.
func besides(ctx context.Context, reader client.Reader, crd *definition, some map[client.ObjectKey]bool) (bool, error) {
	for p := (&pages{reader: reader}); !p.ended; {
		list, err := listOf(crd, "look through")
		if err != nil {
			return false, err
		}
		if err := p.next(ctx, list, min(int64(len(some))+1, largestPage)); err != nil {
			return false, fmt.Errorf("look through the %s objects that are stored: %w", crd.Name, err)
		}
		for i := range list.Items {
			if !some[client.ObjectKeyFromObject(&list.Items[i])] {
				return true, nil
			}
		}
	}
	return false, nil
}

const (
	// heldLooked is how many objects are checked for their finalizers.
	heldLooked = 500
	// heldTold is how many of them are named.
	heldTold = 5
)

// Held says which objects of a CRD have finalizers, which a user has to take away before they can go, and what these are. It checks the
// first 500 objects, and names five.
func Held(ctx context.Context, reader client.Reader, crd *definition) ([]string, error) {
	list, err := listOf(crd, "read")
	if err != nil {
		return nil, err
	}
	if err := reader.List(ctx, list, client.Limit(heldLooked)); isUnserved(err) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("read the finalizers of the %s objects that are stored: %w", crd.Name, err)
	}
	var all []string
	for i := range list.Items {
		if o := &list.Items[i]; len(o.Finalizers) > 0 {
			all = append(all, fmt.Sprintf("%s %s waits for its finalizers %s", crd.Spec.Names.Kind, nameIn(o.Namespace, o.Name),
				messages.Line(strings.Join(o.Finalizers, ", "), maxText)))
		}
	}
	more := "%d more objects of " + crd.Name + " wait for theirs"
	if list.Continue != "" { // of which others may
		more = "at least " + more
	}
	return safetext.First(all, heldTold, more), nil
}

// Written is an object whose last writer used one of the versions that go.
type Written struct {
	Namespace, Name string
	Version         string
}

// String names the object and the version.
func (w Written) String() string { return nameIn(w.Namespace, w.Name) + ": " + w.Version }

// lastWrittenIn is the one of the versions that an object was last written in, by the record of its managed fields; empty is none of them. Of writes in
// the same second each counts as the last one.
func lastWrittenIn(object *unstructured.Unstructured, group string, versions []string) string {
	if len(versions) == 0 {
		return ""
	}
	var last time.Time
	in := ""
	for _, entry := range object.GetManagedFields() {
		var at time.Time
		if entry.Time != nil {
			at = entry.Time.Time
		}
		if at.Before(last) {
			continue
		}
		if at.After(last) {
			last, in = at, ""
		}
		if version, found := strings.CutPrefix(entry.APIVersion, group+"/"); found && slices.Contains(versions, version) {
			in = version
		}
	}
	return in
}
