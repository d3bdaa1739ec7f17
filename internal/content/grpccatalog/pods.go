package grpccatalog

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// namesTried bounds the search for a name that no other pod has.
const namesTried = 3

// carryOut does what was decided, and stops at the first failure: later actions rely on earlier ones.
func (k *Keeper) carryOut(ctx context.Context, wanted *corev1.Pod, out *Outcome) error {
	for _, a := range out.Actions {
		var err error
		switch a.Verb {
		case Create:
			err = k.createPod(ctx, a.Pod)
		case Delete:
			err = k.deletePod(ctx, a.Pod, a.Grace)
		case Promote:
			// Take the labels over by server-side apply. The UID keeps the request from making a pod of nothing but labels.
			u := &unstructured.Unstructured{}
			u.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
			u.SetNamespace(a.Pod.Namespace)
			u.SetName(a.Pod.Name)
			u.SetUID(a.Pod.UID)
			u.SetLabels(PromotedLabels(wanted))
			u.SetAnnotations(map[string]string{promotedAnnotation: a.Pod.Annotations[promotedAnnotation]})
			err = rollout.Assert(ctx, k.Client, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(k.FieldOwner))
		case Annotate:
			err = k.patchPod(ctx, a.Pod, nil, map[string]string{RegistryDigestAnnotation: a.Why})
		}
		if err != nil {
			return fmt.Errorf("%s pod %s/%s (%s): %w", a.Verb, a.Pod.Namespace, a.Pod.Name, a.Why, err)
		}
		out.Changes = append(out.Changes, fmt.Sprintf("%s Pod %s/%s: %s", a.Verb, a.Pod.Namespace, a.Pod.Name, a.Why))
	}
	// Bring the labels and annotations of the pod that serves up to date. Those that others added stay.
	p := out.Serving
	if p == nil || p.UID == "" || p.Labels[v1alpha1.CatalogSourceLabel] == "" || !IsCurrent(p, wanted) {
		return nil
	}
	labels := missing(wanted.Labels, p.Labels)
	annotations := missing(wanted.Annotations, p.Annotations)
	delete(annotations, RegistryDigestAnnotation) // says what this pod runs, not what the next one would
	if len(labels)+len(annotations) == 0 {
		return nil
	}
	if err := k.patchPod(ctx, p, labels, annotations); err != nil {
		return fmt.Errorf("update the labels and annotations of pod %s/%s: %w", p.Namespace, p.Name, err)
	}
	out.Changes = append(out.Changes, fmt.Sprintf("updated labels or annotations of Pod %s/%s", p.Namespace, p.Name))
	return nil
}

// createPod gives the pod another name when another owner's pod has it.
func (k *Keeper) createPod(ctx context.Context, p *corev1.Pod) error {
	for attempt := 1; ; attempt++ {
		fresh := p.DeepCopy()
		err := k.Client.Create(ctx, fresh, client.FieldOwner(k.FieldOwner))
		if !apierrors.IsAlreadyExists(err) {
			if err == nil {
				*p = *fresh
			}
			return err
		}
		there := &corev1.Pod{}
		if err := k.Reader.Get(ctx, client.ObjectKeyFromObject(p), there); client.IgnoreNotFound(err) != nil {
			return err
		}
		sameOwner := slices.ContainsFunc(there.OwnerReferences, func(x metav1.OwnerReference) bool {
			return slices.ContainsFunc(p.OwnerReferences, func(y metav1.OwnerReference) bool { return x.UID == y.UID })
		})
		if there.UID != "" && sameOwner && there.DeletionTimestamp == nil {
			*p = *there // made by another manager, or by a request whose answer was lost
			return nil
		}
		if attempt == namesTried {
			return err
		}
		p.Name = podName(p.GenerateName, p.Name, strconv.Itoa(attempt))
	}
}

// What a node says while it cannot pull an image.
const (
	imagePullBackOff = "ImagePullBackOff"
	errImagePull     = "ErrImagePull"
)

// deletePod deletes this pod, and no other one that has its name by now.
func (k *Keeper) deletePod(ctx context.Context, p *corev1.Pod, grace int64) error {
	err := k.Client.Delete(ctx, p, client.GracePeriodSeconds(grace), client.Preconditions{UID: &p.UID})
	if apierrors.IsConflict(err) {
		return nil
	}
	return client.IgnoreNotFound(err)
}

// missing returns what of the wanted pairs is not there.
func missing(wanted, there map[string]string) map[string]string {
	out := map[string]string{}
	for key, value := range wanted {
		if found, ok := there[key]; !ok || found != value {
			out[key] = value
		}
	}
	return out
}

func (k *Keeper) patchPod(ctx context.Context, p *corev1.Pod, labels, annotations map[string]string) error {
	metadata := map[string]any{"uid": p.UID}
	if len(labels) > 0 {
		metadata["labels"] = labels
	}
	if len(annotations) > 0 {
		metadata["annotations"] = annotations
	}
	patch, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return err
	}
	return k.Client.Patch(ctx, p.DeepCopy(), client.RawPatch(types.MergePatchType, patch), client.FieldOwner(k.FieldOwner))
}
