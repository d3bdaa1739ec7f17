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
			err = k.promotePod(ctx, a.Pod, wanted)
		case Annotate:
			err = k.patchPod(ctx, a.Pod, nil, map[string]string{RegistryDigestAnnotation: a.Why})
		}
		if err != nil {
			return fmt.Errorf("%s pod %s/%s (%s): %w", a.Verb, a.Pod.Namespace, a.Pod.Name, a.Why, err)
		}
		out.Changes = append(out.Changes, fmt.Sprintf("%s Pod %s/%s: %s", a.Verb, a.Pod.Namespace, a.Pod.Name, a.Why))
	}
	return k.refresh(ctx, wanted, out)
}

// createPod gives the pod another name when somebody else's pod has it.
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
		if there.UID != "" && sameOwner(there, p) && there.DeletionTimestamp == nil {
			*p = *there // made by another manager, or by a request whose answer was lost
			return nil
		}
		if attempt == namesTried {
			return err
		}
		p.Name = podName(p.GenerateName, p.Name, strconv.Itoa(attempt))
	}
}

// pullAgain ends the pods that wait for their image. They are still among the pods, as those that are being deleted.
func (k *Keeper) pullAgain(ctx context.Context, pods []corev1.Pod, out *Outcome) error {
	for i := range pods {
		p := &pods[i]
		if p.DeletionTimestamp != nil || !slices.ContainsFunc(containerStatuses(p), func(s corev1.ContainerStatus) bool {
			return s.State.Waiting != nil && (s.State.Waiting.Reason == imagePullBackOff || s.State.Waiting.Reason == errImagePull)
		}) {
			continue
		}
		if err := k.deletePod(ctx, p, graceDead); err != nil {
			return fmt.Errorf("delete pod %s/%s, which waits for its image, because its pull secrets have changed: %w", p.Namespace, p.Name, err)
		}
		now := metav1.Now()
		p.DeletionTimestamp = &now
		out.Changes = append(out.Changes, fmt.Sprintf("%s Pod %s/%s: it waits for its image, and its pull secrets have changed", Delete, p.Namespace, p.Name))
	}
	return nil
}

// What a node says while it cannot pull an image.
const (
	imagePullBackOff = "ImagePullBackOff"
	errImagePull     = "ErrImagePull"
)

func sameOwner(a, b *corev1.Pod) bool {
	for _, x := range a.OwnerReferences {
		for _, y := range b.OwnerReferences {
			if x.UID == y.UID {
				return true
			}
		}
	}
	return false
}

// deletePod deletes this pod, and no other one that has its name by now.
func (k *Keeper) deletePod(ctx context.Context, p *corev1.Pod, grace int64) error {
	err := k.Client.Delete(ctx, p, client.GracePeriodSeconds(grace), client.Preconditions{UID: &p.UID})
	if apierrors.IsConflict(err) {
		return nil
	}
	return client.IgnoreNotFound(err)
}

// promotePod takes the labels over by server-side apply. The UID keeps the request from making a pod of nothing but labels.
func (k *Keeper) promotePod(ctx context.Context, p, wanted *corev1.Pod) error {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
	u.SetNamespace(p.Namespace)
	u.SetName(p.Name)
	u.SetUID(p.UID)
	u.SetLabels(PromotedLabels(wanted))
	return rollout.Assert(ctx, k.Client, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(k.FieldOwner))
}

// refresh brings the labels and annotations of the pod that serves up to date. Those that others added stay.
func (k *Keeper) refresh(ctx context.Context, wanted *corev1.Pod, out *Outcome) error {
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
