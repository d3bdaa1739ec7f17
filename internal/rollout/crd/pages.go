package crd

import (
	"context"
	"errors"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Limits of a page.
const (
	firstPage   = 100 // no one knows yet how large the objects are
	largestPage = 500
	leastPage   = 10
	pageBytes   = 16 << 20
)

// pages is a way through all objects of a kind.
type pages struct {
	reader client.Reader
	token  string // where the next page begins; empty is the first object
	ended  bool
	left   int64 // about how many objects come after the last page
}

// next reads a page. A token that has expired is exchanged for one that continues behind the same object: what came into being before
// that object meanwhile is not seen, and need not be.
func (p *pages) next(ctx context.Context, list client.ObjectList, limit int64) error {
	err := p.reader.List(ctx, list, client.Limit(limit), client.Continue(p.token))
	var status apierrors.APIStatus
	if apierrors.IsResourceExpired(err) && errors.As(err, &status) && status.Status().Continue != "" {
		p.token = status.Status().Continue
		err = p.reader.List(ctx, list, client.Limit(limit), client.Continue(p.token))
	}
	if apierrors.IsResourceExpired(err) && p.token != "" {
		p.token = "" // there is no such way on: begin again
	}
	if err != nil {
		return err
	}
	p.token, p.left = list.GetContinue(), 0
	if p.ended = p.token == ""; !p.ended {
		p.left = -1
	}
	if left := list.GetRemainingItemCount(); left != nil {
		p.left = *left
	}
	return nil
}

// kindIn is the kind of the objects of a CRD in one of its versions.
func kindIn(crd *definition, version string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: crd.Spec.Group, Version: version, Kind: crd.Spec.Names.Kind}
}

func listIn(crd *definition, version string) schema.GroupVersionKind {
	gvk := kindIn(crd, version)
	gvk.Kind += "List"
	return gvk
}

// conversionFails tells whether a request failed because a webhook that converts objects did. The API server has no other way to say so.
func conversionFails(err error) bool {
	return err != nil && strings.Contains(err.Error(), "conversion webhook for ")
}

// isUnserved reports whether a request failed because the API server does not serve the kind.
func isUnserved(err error) bool { return apierrors.IsNotFound(err) || meta.IsNoMatchError(err) }

// nameIn is how an object is called in messages.
func nameIn(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

// weight is about how many bytes a JSON value has.
func weight(value any) int {
	switch v := value.(type) {
	case string:
		return len(v) + 16
	case map[string]any:
		sum := 16
		for name, member := range v {
			sum += len(name) + 16 + weight(member)
		}
		return sum
	case []any:
		sum := 16
		for _, item := range v {
			sum += weight(item)
		}
		return sum
	}
	return 16
}
