package uninstall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/revision"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// empty deletes the custom resources of a definition, and waits until they are gone.
func (d *CRD) empty(ctx context.Context, c client.Client, tell func(string)) error {
	live := &apiextensionsv1.CustomResourceDefinition{}
	if err := c.Get(ctx, client.ObjectKey{Name: d.Name}, live); apierrors.IsNotFound(err) || err == nil && live.UID != d.uid {
		return nil
	} else if err != nil {
		return fmt.Errorf("read CustomResourceDefinition %s: %w", d.Name, err)
	}
	err := wait(ctx, func() (string, error) {
		list, err := instances(ctx, c, live)
		if err != nil {
			return "", fmt.Errorf("list the custom resources of %s: %w", d.Name, err)
		}
		left := ""
		for i := range list.Items {
			o := &list.Items[i]
			if left == "" || len(o.Finalizers) > 0 && !o.DeletionTimestamp.IsZero() {
				left = fmt.Sprintf("%s %s is being deleted", d.Kind, client.ObjectKeyFromObject(o))
				if len(o.Finalizers) > 0 {
					left += ", and waits for its finalizers " + strings.Join(o.Finalizers, ", ")
				}
			}
			if !o.DeletionTimestamp.IsZero() {
				continue
			}
			if err := c.Delete(ctx, o, client.Preconditions{UID: &o.UID}); client.IgnoreNotFound(err) != nil {
				return "", fmt.Errorf("delete %s %s: %w", d.Kind, client.ObjectKeyFromObject(o), err)
			}
		}
		return left, nil
	})
	if err != nil {
		return fmt.Errorf("delete the custom resources of %s: %w", d.Name, err)
	}
	tell(fmt.Sprintf("deleted the custom resources of %s", d.Name))
	return nil
}

// settle makes sure that a definition of a ClusterExtension stays which is to stay: it is taken from the revisions, which would take it
// along, and is converted by no webhook that goes. One that has got custom resources meanwhile stays, too.
func (r *Removal) settle(ctx context.Context, c client.Client, d *CRD, tell func(string)) error {
	live := &apiextensionsv1.CustomResourceDefinition{}
	if err := c.Get(ctx, client.ObjectKey{Name: d.Name}, live); apierrors.IsNotFound(err) || err == nil && live.UID != d.uid {
		d.Goes = false
		return nil
	} else if err != nil {
		return fmt.Errorf("read CustomResourceDefinition %s: %w", d.Name, err)
	}
	if d.Goes {
		list, err := instances(ctx, c, live)
		if errors.Is(err, errUnserved) && d.Instances < 0 {
			return nil // it goes because the user named it, knowing that
		}
		if err != nil {
			return fmt.Errorf("list the custom resources of %s: %w", d.Name, err)
		}
		if len(list.Items) == 0 {
			return nil
		}
		d.Goes = false
		tell(fmt.Sprintf("CustomResourceDefinition %s stays: it has got custom resources meanwhile", d.Name))
	}
	if r.API != "v1" {
		return nil // there it belongs to nobody, and the manager takes the conversion away
	}
	patch := map[string]any{"metadata": map[string]any{"resourceVersion": live.ResourceVersion}}
	owners := slices.DeleteFunc(slices.Clone(live.OwnerReferences), ofRevision)
	if len(owners) == len(live.OwnerReferences) && !d.Converted {
		return nil
	}
	patch["metadata"].(map[string]any)["ownerReferences"] = owners
	patch["metadata"].(map[string]any)["annotations"] = map[string]any{revision.KeptKey: revision.KeptOf(r.Operator.Name, r.uid)}
	if d.Converted {
		patch["spec"] = map[string]any{"conversion": map[string]any{"strategy": apiextensionsv1.NoneConverter, "webhook": nil}}
	}
	text, err := json.Marshal(patch)
	if err != nil {
		return fmt.Errorf("write the patch of CustomResourceDefinition %s: %w", d.Name, err)
	}
	if err := c.Patch(ctx, live, client.RawPatch(types.MergePatchType, text), fieldOwner); err != nil {
		return fmt.Errorf("keep CustomResourceDefinition %s: %w; nothing has been removed yet, try again", d.Name, err)
	}
	tell("kept CustomResourceDefinition " + d.Name)
	return nil
}

// ofRevision tells whether an owner is a revision of an extension.
func ofRevision(o metav1.OwnerReference) bool {
	return o.Kind == olmv1.ClusterObjectSetKind && strings.HasPrefix(o.APIVersion, olmv1.GroupName+"/")
}

// remove deletes a definition that still is the one that was looked at.
func (d *CRD) remove(ctx context.Context, c client.Client, tell func(string)) error {
	return remove(ctx, c, Ref{APIVersion: apiextensionsv1.SchemeGroupVersion.String(), Kind: "CustomResourceDefinition", Name: d.Name}, d.uid, tell)
}
