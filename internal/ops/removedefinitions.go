package ops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/internal/rollout/revision"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
	err := WaitRemoval(ctx, func() (string, error) {
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
	if d.Unseen {
		return nil
	}
	live, err := d.look(ctx, c, tell)
	if err != nil || live == nil || d.Goes {
		return err
	}
	if r.API != "v1" {
		return nil // there it belongs to no one, and the manager takes the conversion away
	}
	if !slices.ContainsFunc(live.OwnerReferences, revision.IsRevision) && !d.Converted {
		return nil
	}
	if err := revision.Keep(ctx, c, live, revision.KeptOf(r.Operator.Name, r.uid), d.Converted, removalOwner); err != nil {
		return fmt.Errorf("%w; nothing has been removed yet, try again", err)
	}
	tell("kept CustomResourceDefinition " + d.Name)
	return nil
}

// look finds out whether a definition that is to go still may: one that has got custom resources meanwhile stays. Nil is one that is not there.
func (d *CRD) look(ctx context.Context, reader client.Reader, tell func(string)) (*apiextensionsv1.CustomResourceDefinition, error) {
	live := &apiextensionsv1.CustomResourceDefinition{}
	if err := reader.Get(ctx, client.ObjectKey{Name: d.Name}, live); apierrors.IsNotFound(err) || err == nil && live.UID != d.uid {
		d.Goes = false
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("read CustomResourceDefinition %s: %w", d.Name, err)
	}
	if !d.Goes {
		return live, nil
	}
	list, err := instances(ctx, reader, live)
	if errors.Is(err, errUnserved) && d.Instances < 0 {
		return live, nil // it goes because the user named it, knowing that
	}
	if err != nil {
		return nil, fmt.Errorf("list the custom resources of %s: %w", d.Name, err)
	}
	if len(list.Items) > 0 && live.DeletionTimestamp.IsZero() {
		d.Goes = false
		tell(fmt.Sprintf("CustomResourceDefinition %s stays: it has got custom resources meanwhile", d.Name))
	}
	return live, nil
}

// consent tells the manager which definitions of a ClusterExtension go whatever they have when it comes to them: it keeps others with custom
// resources. Who may not write that deletes the definitions after the extension nevertheless.
func (r *Removal) consent(ctx context.Context, c client.Client) error {
	var names []string
	for i := range r.CRDs {
		if d := &r.CRDs[i]; d.Goes && d.named {
			names = append(names, d.Name)
		}
	}
	if r.API != "v1" || len(names) == 0 {
		return nil
	}
	text, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": r.uid, "annotations": map[string]any{revision.DeleteCRDsKey: strings.Join(names, " ")}}})
	if err != nil {
		return fmt.Errorf("write the patch of %s: %w", r.Operator, err)
	}
	err = c.Patch(ctx, r.Operator.Object(), client.RawPatch(types.MergePatchType, text), removalOwner)
	if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("note on %s which CustomResourceDefinitions are to go: %w; nothing but their custom resources has been removed yet, try again", r.Operator, err)
	}
	return nil
}
