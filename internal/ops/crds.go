package ops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/internal/rollout/crd"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// lookedAt is how many custom resources of a definition are checked for their finalizers; the others are only counted.
const lookedAt = 500

// errUnserved says that custom resources can be neither counted nor deleted one by one.
var errUnserved = errors.New("no version of the definition is served")

// crd finds out about a definition. Nil is one that is not there. others names who else needs it; it is empty when no one does.
func (r *Removal) crd(ctx context.Context, reader client.Reader, name string, o UninstallOptions, others string) (*CRD, error) {
	live := &apiextensionsv1.CustomResourceDefinition{}
	if err := reader.Get(ctx, client.ObjectKey{Name: name}, live); apierrors.IsNotFound(err) {
		return nil, nil
	} else if apierrors.IsForbidden(err) {
		return unseenCRD(name, ""), nil
	} else if err != nil {
		return nil, fmt.Errorf("read CustomResourceDefinition %s: %w", name, err)
	}
	c := &CRD{Name: name, Kind: live.Spec.Names.Kind, uid: live.UID}
	trouble := c.count(ctx, reader, live)
	named := slices.Contains(o.DeleteCRDs, name)
	switch {
	case others != "":
		c.Why = others
	case trouble != nil && !named:
		c.Why = fmt.Sprintf("its custom resources cannot be counted: %v", trouble)
	case named:
		c.Goes, c.named, c.operands, c.Why = true, true, c.Instances != 0 && !errors.Is(trouble, errUnserved), "you named it"
	case o.KeepCRDs:
		c.Why = "you keep them"
	case c.Instances > 0:
		c.Why, c.Advice = "it has custom resources", "to delete them, too, add --delete-crd "+name
	default:
		c.Goes, c.Why = true, "it has no custom resources"
	}
	if !c.Goes && c.Instances > 0 && len(c.Finalizers) > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("custom resources of %s have finalizers (%s), which no controller removes once the operator is gone: deleting them later waits for ever",
			name, strings.Join(c.Finalizers, ", ")))
	}
	return c, nil
}

// unseenCRD is a definition that is left alone because the user may not see whether it is there, who else needs it, or what it has.
func unseenCRD(name, kind string) *CRD {
	return &CRD{Name: name, Kind: kind, Instances: -1, Unseen: true, Why: "you may not see it: whether it is there, what it has and who else needs it is not known"}
}

// count counts the custom resources.
func (c *CRD) count(ctx context.Context, reader client.Reader, live *apiextensionsv1.CustomResourceDefinition) error {
	list, err := instances(ctx, reader, live)
	if err != nil {
		c.Instances = -1
		return err
	}
	if c.Instances, c.AtLeast, err = crd.Total(ctx, reader, list); err != nil {
		c.Instances = -1
		return fmt.Errorf("count the custom resources of %s: %w", c.Name, err)
	}
	for _, i := range list.Items {
		for _, f := range i.Finalizers {
			if !slices.Contains(c.Finalizers, f) {
				c.Finalizers = append(c.Finalizers, f)
			}
		}
	}
	slices.Sort(c.Finalizers)
	return nil
}

// instances are the first custom resources of a definition, without their content.
func instances(ctx context.Context, reader client.Reader, live *apiextensionsv1.CustomResourceDefinition) (*metav1.PartialObjectMetadataList, error) {
	list := &metav1.PartialObjectMetadataList{}
	for _, v := range live.Spec.Versions {
		if v.Served && (v.Storage || list.Kind == "") { // the stored version needs no conversion
			list.SetGroupVersionKind(schema.GroupVersionKind{Group: live.Spec.Group, Version: v.Name, Kind: live.Spec.Names.Kind + "List"})
		}
	}
	if list.Kind == "" { // there may be some from the time when one was served
		return nil, errUnserved
	}
	err := reader.List(ctx, list, client.Limit(lookedAt))
	if apierrors.IsNotFound(err) { // it is not established
		return list, nil
	}
	return list, err
}
