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

// clusterExtension is an operator that a ClusterExtension installs. Its namespace has its name.
type clusterExtension struct {
	*run
	pkg       string
	namespace string
	targets   []string // the namespaces to watch; none is all
}

// take makes an edge happen, and waits until the operator runs.
func (x *clusterExtension) take(ctx context.Context, e Edge) error {
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
func (x *clusterExtension) until(ctx context.Context, name string) error {
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

// back returns to the revision before an upgrade, as fairlead rollback does, and waits until what it had is installed again. Custom resources that were written for
// that revision can only lose what the upgrade has added to them, such as defaults of new fields: where nothing else is in the way, they are put out of it.
func (x *clusterExtension) back(ctx context.Context, e Edge, forget func(context.Context) error) error {
	judged, err := x.judgeBack(ctx)
	if err == nil && len(judged.Blocked) > 0 && !slices.ContainsFunc(judged.Blocked, func(why string) bool { return !strings.Contains(why, losesFields) }) {
		if err = forget(ctx); err == nil {
			judged, err = x.judgeBack(ctx)
		}
	}
	switch {
	case err != nil:
		return err
	case len(judged.Blocked) > 0:
		return &stuckError{strings.Join(judged.Blocked, "; ")}
	}
	if err := judged.Apply(ctx, x.client); err != nil {
		return err
	}
	return x.until(ctx, e.From)
}

// losesFields is in what package crd says of custom resources that have fields which an earlier definition does not know.
const losesFields = "would lose fields"

// judgeBack finds out whether the way back is open.
func (x *clusterExtension) judgeBack(ctx context.Context) (*ops.Rollback, error) {
	history, err := ops.ReadHistory(ctx, x.client, x.namespace)
	if err != nil {
		return nil, err
	}
	judged, err := history.Judge(ctx, x.client, 0)
	if err != nil {
		return nil, &stuckError{err.Error()}
	}
	return judged, nil
}

// brought are the objects that a bundle brings here.
func (x *clusterExtension) brought(b *bundle.Bundle) (map[object]bool, error) {
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
func (x *clusterExtension) remove(ctx context.Context) error {
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
func (x *clusterExtension) dependencies(ctx context.Context) error {
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
