package catalogtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/ops"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// extension is an operator that a ClusterExtension installs. Its namespace has its name.
type extension struct {
	*run
	pkg       string
	namespace string
	targets   []string // the namespaces to watch; none is all
}

// take makes an edge happen, and waits until the operator runs.
func (x *extension) take(ctx context.Context, e Edge) error {
	wanted := []string{x.edges.of(hopOf(e))}
	if e.From == "" {
		_, err := ops.InstallExtension(ctx, x.client, ops.ExtensionOptions{Name: x.namespace, Package: x.pkg, Namespace: x.namespace, Channels: wanted,
			Catalogs: []string{x.catalog}, Watch: x.targets, Annotations: map[string]string{ops.DependenciesKey: "true"}})
		if err != nil {
			return err
		}
	} else if _, _, err := ops.ChangeExtension(ctx, x.client, x.namespace, ops.ExtensionChange{Channels: &wanted, Annotations: ops.RollForward, Resume: ops.HistoryVersion}); err != nil {
		return err
	}
	return x.until(ctx, e.To)
}

// until waits until a bundle is installed and works.
func (x *extension) until(ctx context.Context, name string) error {
	return x.await(ctx, func(ctx context.Context) (state, error) {
		e := &olmv1.ClusterExtension{}
		if err := x.client.Get(ctx, client.ObjectKey{Name: x.namespace}, e); err != nil {
			return state{}, fmt.Errorf("read ClusterExtension %s: %w", x.namespace, err)
		}
		s := ops.Stand(e)
		if s.Done && e.Status.Install != nil && e.Status.Install.Bundle.Name == name {
			return state{done: true}, nil
		}
		now := state{final: s.Stopped, reason: s.Reason + ": " + s.Message}
		if ready := meta.FindStatusCondition(e.Status.Conditions, "Ready"); ready != nil && ready.Status != "True" && ready.ObservedGeneration >= e.Generation {
			now.reason = ready.Reason + ": " + ready.Message
		}
		return now, nil
	})
}

// back returns to the revision before an upgrade, as fairlead rollback does, and waits until what it had is installed again.
func (x *extension) back(ctx context.Context, e Edge) error {
	history, err := ops.ReadHistory(ctx, x.client, x.namespace)
	if err != nil {
		return err
	}
	judged, err := history.Judge(ctx, x.client, 0)
	if err != nil {
		return &stuckError{err.Error()}
	}
	if len(judged.Blocked) > 0 {
		return &stuckError{strings.Join(judged.Blocked, "; ")}
	}
	if err := judged.Apply(ctx, x.client); err != nil {
		return err
	}
	return x.until(ctx, e.From)
}

// brought are the objects that a bundle brings here.
func (x *extension) brought(b *bundle.Bundle) (map[object]bool, error) {
	var config []byte
	if len(x.targets) > 0 {
		var err error
		if config, err = json.Marshal(map[string]string{"watchNamespace": x.targets[0]}); err != nil {
			return nil, fmt.Errorf("write the configuration of bundle %s: %w", b.Name, err)
		}
	}
	return broughtV1(b, x.namespace, config)
}

// remove uninstalls the operator with its CustomResourceDefinitions, and what it needed.
func (x *extension) remove(ctx context.Context) error {
	err := x.client.Get(ctx, client.ObjectKey{Name: x.namespace}, &olmv1.ClusterExtension{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err == nil {
		err = x.uninstall(ctx, ops.UninstallOptions{Name: x.namespace}, ops.UninstallExtension)
	}
	return errors.Join(err, x.dependencies(ctx))
}

// dependencies waits until what was installed for the needs of the extension is gone: the manager removes it when nothing needs it any more.
func (x *extension) dependencies(ctx context.Context) error {
	return x.await(ctx, func(ctx context.Context) (state, error) {
		var list olmv1.ClusterExtensionList
		if err := x.client.List(ctx, &list, client.HasLabels{ops.DependencyLabel}); err != nil {
			return state{}, fmt.Errorf("list the ClusterExtensions: %w", err)
		}
		at := slices.IndexFunc(list.Items, func(e olmv1.ClusterExtension) bool { return e.Annotations[ops.RequiredByKey] == x.namespace })
		if at < 0 {
			return state{done: true}, nil
		}
		return state{reason: "ClusterExtension " + list.Items[at].Name + ", which was installed for it, is still there"}, nil
	})
}
