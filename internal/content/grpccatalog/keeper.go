package grpccatalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Keeper keeps the objects of catalogs in pods as they are wanted. It is safe for concurrent use, for different catalogs.
type Keeper struct {
	// Client writes.
	Client client.Client
	// Reader reads what is there, past any cache.
	Reader client.Reader
	// FieldOwner is the name under which fields are owned.
	FieldOwner string
	// Settings are those of the manager.
	Settings Settings

	tidied sync.Map // types.UID of a catalog to the tidiness that it was brought to
}

// Request is what a catalog is to be kept as.
type Request struct {
	Source *v1alpha1.CatalogSource
	// PollDue, RegistryDigest, Verified and Now are as in Situation.
	PollDue        bool
	RegistryDigest string
	Verified       bool
	Now            time.Time
	// PullAgain says that pull secrets have changed: pods that wait for their image are replaced, because a node pauses for minutes
	// before it tries the new ones.
	PullAgain bool
}

// Outcome is how far the catalog is, for its status and its events.
type Outcome struct {
	Decision
	// Changes are what was written, for people; empty when everything was as wanted.
	Changes []string
	// Service is status.registryService; nil while there is no pod.
	Service *v1alpha1.RegistryServiceStatus
	// Digest is what the pod that serves runs; empty is not known yet.
	Digest string
}

// Ensure brings the objects of a catalog about as far as is possible now. What it is waiting for comes with an event of an object of
// the catalog, or Outcome.Again later. After an error, what was not done is done by the next call.
func (k *Keeper) Ensure(ctx context.Context, r Request) (Outcome, error) {
	var out Outcome
	companions, err := Companions(r.Source, k.Settings)
	if err != nil {
		return out, err
	}
	account, err := k.ensureCompanions(ctx, r.Source, companions, &out)
	if err != nil || out.Waiting != "" {
		return out, err
	}
	observed := Observed{PullSecrets: account.ImagePullSecrets, RegistryDigest: r.RegistryDigest}
	if config := r.Source.Spec.GrpcPodConfig; config == nil || config.SecurityContextConfig == "" {
		namespace := &metav1.PartialObjectMetadata{}
		namespace.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
		if err := k.Reader.Get(ctx, client.ObjectKey{Name: r.Source.Namespace}, namespace); err != nil {
			return out, fmt.Errorf("read the labels of namespace %s, to choose a security profile for the pod of CatalogSource %s: %w",
				r.Source.Namespace, r.Source.Name, err)
		}
		observed.NamespaceLabels = namespace.Labels
	}
	wanted, err := Wanted(r.Source, k.Settings, observed)
	if err != nil {
		return out, err
	}
	pods, err := k.pods(ctx, r.Source)
	if err != nil {
		return out, err
	}
	if r.PullAgain {
		// End the pods that wait for their image. They are still among the pods, as those that are being deleted.
		for i := range pods {
			p := &pods[i]
			if p.DeletionTimestamp != nil || !slices.ContainsFunc(containerStatuses(p), func(s corev1.ContainerStatus) bool {
				return s.State.Waiting != nil && (s.State.Waiting.Reason == imagePullBackOff || s.State.Waiting.Reason == errImagePull)
			}) {
				continue
			}
			if err := k.deletePod(ctx, p, graceDead); err != nil {
				return out, fmt.Errorf("delete pod %s/%s, which waits for its image, because its pull secrets have changed: %w", p.Namespace, p.Name, err)
			}
			now := metav1.Now()
			p.DeletionTimestamp = &now
			out.Changes = append(out.Changes, fmt.Sprintf("%s Pod %s/%s: it waits for its image, and its pull secrets have changed", Delete, p.Namespace, p.Name))
		}
	}
	out.Decision = Decide(Situation{Wanted: wanted.Pod, Pods: pods, PollDue: r.PollDue, RegistryDigest: r.RegistryDigest, Verified: r.Verified, Now: r.Now})
	err = errors.Join(k.carryOut(ctx, wanted.Pod, &out), k.removeLeftovers(ctx, r.Source, wanted, &out))
	if p := out.Serving; p != nil {
		out.Digest = RunningDigest(p)
		if !p.CreationTimestamp.IsZero() {
			out.Service = ServiceStatus(r.Source, p.CreationTimestamp)
		}
	}
	return out, err
}

// Forget drops what is known of a catalog that is gone.
func (k *Keeper) Forget(source *v1alpha1.CatalogSource) { k.tidied.Delete(source.UID) }

// pods are those of the catalog: labelled as such, and owned by it.
func (k *Keeper) pods(ctx context.Context, source *v1alpha1.CatalogSource) ([]corev1.Pod, error) {
	var list corev1.PodList
	if err := k.Reader.List(ctx, &list, client.InNamespace(source.Namespace), client.HasLabels{v1alpha1.CatalogSourceLabel}); err != nil {
		return nil, fmt.Errorf("list the pods of CatalogSource %s/%s: %w", source.Namespace, source.Name, err)
	}
	var own []corev1.Pod
	for _, p := range list.Items {
		if owns(source, &p) {
			own = append(own, p)
		}
	}
	return own, nil
}

// owns tells whether an object was made for the catalog.
func owns(source *v1alpha1.CatalogSource, o metav1.Object) bool {
	return slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == source.UID })
}
