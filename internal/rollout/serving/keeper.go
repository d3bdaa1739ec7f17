package serving

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

const (
	// recheck is how often the Secret and the ConfigMap are read: how long it takes at most until what was deleted is recreated.
	recheck = 10 * time.Minute
	// retry is how soon a failure is retried.
	retry = 10 * time.Second
)

// Keeper keeps a certificate whose CA bundle clients read from a ConfigMap.
type Keeper struct {
	*Store
	configMap string
}

// NewKeeper returns a keeper that publishes the CA bundle in the named ConfigMap, in the namespace of the Secret.
func NewKeeper(o Options, configMap string) *Keeper {
	if o.Delay == 0 {
		o.Delay = ConfigMapDelay
	}
	return &Keeper{Store: NewStore(o), configMap: configMap}
}

// Prepare stores a certificate where there is none, publishes its CA bundle, and serves it. It creates the namespace if it is missing.
func (k *Keeper) Prepare(ctx context.Context) error {
	live := &metav1.PartialObjectMetadata{}
	live.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	err := k.o.Client.Get(ctx, client.ObjectKey{Name: k.o.Namespace}, live)
	if apierrors.IsNotFound(err) {
		err = k.o.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: k.o.Namespace}}, client.FieldOwner(k.o.FieldManager))
	}
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create namespace %s for the serving certificate: %w", k.o.Namespace, err)
	}
	if err := k.Store.Prepare(ctx); err != nil {
		return err
	}
	_, err = k.Reconcile(ctx, k.publish)
	return err
}

// Start keeps the certificate until the context ends.
func (k *Keeper) Start(ctx context.Context) error {
	for last := ""; ; {
		next, err := k.Reconcile(ctx, k.publish)
		if err != nil && ctx.Err() == nil && err.Error() != last {
			last = err.Error()
			k.o.Log.Error(err, "the serving certificate cannot be kept; the one that is served stays, and it is retried", "in", retry)
		}
		pause := retry
		if err == nil {
			last, pause = "", max(time.Second, min(recheck, next.Sub(k.o.Clock.Now())))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// NeedLeaderElection lets every replica keep the certificate that it serves.
func (k *Keeper) NeedLeaderElection() bool { return false }

// publish writes the ConfigMap where it is not as desired.
func (k *Keeper) publish(ctx context.Context, merge func(published []byte) []byte) error {
	live := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: k.o.Namespace, Name: k.configMap}}
	_, err := controllerutil.CreateOrUpdate(ctx, client.WithFieldOwner(k.o.Client, k.o.FieldManager), live, func() error {
		bundle := string(merge([]byte(live.Data[CAKey])))
		if live.Data == nil {
			live.Data = map[string]string{}
		}
		live.Data[CAKey] = bundle
		return nil
	})
	if err != nil {
		return fmt.Errorf("publish the CA bundle of the serving certificate in ConfigMap %s/%s: %w", k.o.Namespace, k.configMap, err)
	}
	return nil
}
