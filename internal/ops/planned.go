package ops

import (
	"context"
	"fmt"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops/migrate"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// StaleError says that an install is not as it was when its migration was planned. Nothing was changed, or what was is taken back.
type StaleError struct {
	Subscription string
	Changed      []string
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("migrate Subscription %s: it is not as it was when this was planned, and nothing was done:\n  - %s\nCheck the plan of what there is now: the same command makes it",
		e.Subscription, strings.Join(e.Changed, "\n  - "))
}

// asPlanned looks whether all is as the backup has it. Where it is not, and there is no ClusterExtension yet, the Subscription gets back its way
// to upgrade, and nothing was done.
func (m adoption) asPlanned(ctx context.Context) error {
	b := m.Backup
	e, err := m.extension(ctx)
	if err != nil {
		return err
	}
	changed, err := m.changed(ctx, e != nil)
	if err != nil || len(changed) == 0 {
		return err
	}
	key := b.CSV.Namespace + "/" + b.Subscription.GetName()
	if e != nil {
		return fmt.Errorf("migrate Subscription %s: it has changed since that was begun:\n  - %s\nClusterExtension %s has its objects, and ClusterServiceVersion %s was left as it is: "+
			"%s gives them back, then start over", key, strings.Join(changed, "\n  - "), e.Name, b.CSV, m.undo)
	}
	if err := approval(m).unfreeze(ctx); err != nil {
		return err
	}
	return &StaleError{key, changed}
}

// changed says what is not as the backup has it. Once the ClusterServiceVersion is being deleted, all is as it has to be.
func (m adoption) changed(ctx context.Context, begun bool) ([]string, error) {
	b := m.Backup
	csv := &v1alpha1.ClusterServiceVersion{}
	err := m.Client.Get(ctx, client.ObjectKey{Namespace: b.CSV.Namespace, Name: b.CSV.Name}, csv)
	isGone := apierrors.IsNotFound(err)
	if err != nil && !isGone {
		return nil, fmt.Errorf("read ClusterServiceVersion %s: %w", b.CSV, err)
	}
	sub, err := m.read(ctx, migrate.RefOf(b.Subscription))
	if err != nil {
		return nil, err
	}
	retired := isGone && sub == nil || controllerutil.ContainsFinalizer(csv, hold) && csv.DeletionTimestamp != nil && csv.UID == b.Version.GetUID()
	switch {
	case begun && retired:
		return nil, nil
	case sub == nil:
		return []string{migrate.RefOf(b.Subscription).String() + " is gone"}, nil
	}
	in, err := m.install(ctx, client.ObjectKeyFromObject(sub))
	if apierrors.IsNotFound(err) {
		return []string{"ClusterServiceVersion " + b.CSV.String() + " is gone"}, nil
	}
	if err != nil {
		return nil, err
	}
	now := migrate.Now{Install: in, Subscription: sub, Adopted: map[migrate.Ref]*unstructured.Unstructured{}, Begun: begun}
	for _, u := range b.Adopted {
		live, err := m.read(ctx, migrate.RefOf(u))
		if err != nil {
			return nil, err
		}
		if live != nil {
			now.Adopted[migrate.RefOf(u)] = live
		}
	}
	return b.Changed(now), nil
}
