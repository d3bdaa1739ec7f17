package registration

import (
	"context"
	"fmt"
	"time"

	"fairlead.dev/fairlead/internal/rollout"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Prepare puts right what earlier processes have left, and makes a certificate that can be shown, where there is none.
func (r *Registration) Prepare(ctx context.Context) error {
	if err := r.Clear(ctx); err != nil {
		return err
	}
	namespace := r.engine.Apply(ctx, []rollout.Phase{r.options.namespace()})
	if err := namespace.Err(); err != nil {
		return fmt.Errorf("make the namespace of the package server: %w", err)
	}
	return r.store.Prepare(ctx)
}

// never is when to look again at what only changes by an event.
const never = 24 * time.Hour

// reconcile brings everything about, and returns when to look again.
func (r *Registration) reconcile(ctx context.Context) (time.Time, error) {
	leaving, err := r.leaving(ctx)
	if err != nil {
		return time.Time{}, err
	}
	if leaving {
		// What this process may do goes with its namespace, and the namespace goes only when the APIService has gone.
		return r.options.Clock.Now().Add(never), r.deleteAPIService(ctx)
	}
	return r.store.Reconcile(ctx, r.publish)
}

// publish registers this process with the CA bundle of its certificate: API servers trust the certificate before it is served.
func (r *Registration) publish(ctx context.Context, merge func(published []byte) []byte) error {
	live, err := r.apiService(ctx)
	if err != nil {
		return err
	}
	operator, err := r.operator(ctx)
	if err != nil {
		return err
	}
	if operator != "" {
		return fmt.Errorf("register the package server: APIService %s belongs to ClusterServiceVersion %s; delete that to have packages served here, or switch this server off",
			APIServiceName, operator)
	}
	if err := r.engine.Apply(ctx, r.options.phases(merge(r.options.bundle(live)))).Err(); err != nil {
		return fmt.Errorf("register the package server: %w", err)
	}
	return nil
}

// leaving tells whether a namespace is being deleted without which this process cannot serve.
func (r *Registration) leaving(ctx context.Context) (bool, error) {
	for _, name := range []string{r.options.home(), r.options.Namespace} {
		namespace := &metav1.PartialObjectMetadata{}
		namespace.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
		err := r.reader.Get(ctx, client.ObjectKey{Name: name}, namespace)
		if client.IgnoreNotFound(err) != nil {
			return false, fmt.Errorf("find out whether namespace %s of the package server is being deleted: %w", name, err)
		}
		if err == nil && !namespace.DeletionTimestamp.IsZero() {
			return true, nil
		}
	}
	return false, nil
}
