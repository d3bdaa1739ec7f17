package ops

import (
	"context"
	"errors"
	"fmt"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops/migrate"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Mover moves operators from one API to the other.
type Mover struct {
	Client client.Client
	// Namespace holds the backups: one that only administrators of the cluster can write to, such as the manager's.
	Namespace string
	// Flags are added to the commands that are named in what users are told, so that these are about the same cluster and the same backups.
	Flags string
	// Render tells which bundle a ClusterExtension that is not there yet would have, and its objects; or why it would have none.
	Render func(ctx context.Context, e *olmv1.ClusterExtension) (bundle string, objects []*unstructured.Unstructured, blocked []string, err error)
}

// access reads and changes single objects of a migration.
type access struct{ client.Client }

// record is a migration as its backup has it, with what was noted there since.
type record struct {
	access
	*migrate.Backup
	// undo is the command that takes the migration back.
	undo string
}

// record returns the record of a backup.
func (m *Mover) record(b *migrate.Backup) record {
	return record{access{m.Client}, b, m.undoCommand(b.Extension.Name)}
}

// undoCommand is the command that takes a migration back.
func (m *Mover) undoCommand(extension string) string {
	return "fairlead migrate --undo " + extension + m.Flags
}

// Plan tells what would be done with a Subscription. A migration that was cut short is gone on with as it was begun.
func (m *Mover) Plan(ctx context.Context, key client.ObjectKey, w migrate.Preferences) (*Move, error) {
	begun, err := m.begun(ctx, key)
	if err != nil || begun != nil {
		return begun, err
	}
	in, err := access{m.Client}.install(ctx, key)
	if err != nil {
		return nil, err
	}
	e, err := in.Extension(w)
	if err != nil {
		return nil, fmt.Errorf("migrate Subscription %s: %w", key, err)
	}
	var all olmv1.ClusterExtensionList
	if err := m.Client.List(ctx, &all); err != nil {
		return nil, fmt.Errorf("list the ClusterExtensions: %w", err)
	}
	if slices.ContainsFunc(all.Items, func(o olmv1.ClusterExtension) bool { return o.Name == e.Name }) {
		return nil, fmt.Errorf("migrate Subscription %s: there is a ClusterExtension %s already: choose another name with --name", key, e.Name)
	}
	bundle, objects, blocked, err := m.Render(ctx, e)
	if err != nil {
		return nil, fmt.Errorf("migrate Subscription %s: %w", key, err)
	}
	seen, err := m.see(ctx, key, in, objects)
	if err != nil {
		return nil, err
	}
	plan, backup := in.Decide(e, *seen)
	plan.Bundle = bundle
	plan.Refused = append(plan.Refused, blocked...)
	if bundle != "" && bundle != in.CSV.Name {
		plan.Refused = append(plan.Refused, fmt.Sprintf("the catalogs have bundle %s as version %s, but ClusterServiceVersion %s is installed: the catalog of the package has to have that", bundle, in.CSV.Spec.Version, in.CSV.Name))
	}
	if len(blocked) > 0 {
		// Which ClusterCatalog would have what the CatalogSource has.
		source, key := &v1alpha1.CatalogSource{}, client.ObjectKey{Namespace: in.Subscription.Spec.CatalogSourceNamespace, Name: in.Subscription.Spec.CatalogSource}
		note := fmt.Sprintf("CatalogSource %s has no image that a ClusterCatalog could have, too: publish its content as an image, and create a ClusterCatalog of it", key)
		if m.Client.Get(ctx, key, source) == nil && source.Spec.Image != "" {
			note = fmt.Sprintf("where no ClusterCatalog has the package: CatalogSource %s has image %s; create a ClusterCatalog with spec.source {type: Image, image: {ref: %[2]s}}", key, source.Spec.Image)
		}
		plan.Notes = append(plan.Notes, note)
	}
	for i := range all.Items {
		if o := &all.Items[i]; o.Spec.Source.Catalog != nil && o.Spec.Source.Catalog.PackageName == e.Spec.Source.Catalog.PackageName {
			plan.Refused = append(plan.Refused, fmt.Sprintf("ClusterExtension %s has package %s already, and both would want the same objects", o.Name, e.Spec.Source.Catalog.PackageName))
		}
	}
	at := m.secretKey(key)
	plan.BackupSecret = at.String()
	return &Move{Plan: plan, Backup: backup, key: at}, nil
}

// install reads what is installed.
func (c access) install(ctx context.Context, key client.ObjectKey) (*migrate.Install, error) {
	in := &migrate.Install{Subscription: &v1alpha1.Subscription{}, CSV: &v1alpha1.ClusterServiceVersion{}}
	if err := c.Client.Get(ctx, key, in.Subscription); err != nil {
		return nil, fmt.Errorf("migrate Subscription %s: %w; kubectl get subscriptions -A lists them", key, err)
	}
	name := in.Subscription.Status.InstalledCSV
	if in.Subscription.Spec == nil || name == "" {
		return nil, fmt.Errorf("migrate Subscription %s: it has installed nothing yet (status.installedCSV): there is nothing to adopt", key)
	}
	if err := c.Client.Get(ctx, client.ObjectKey{Namespace: key.Namespace, Name: name}, in.CSV); err != nil {
		return nil, fmt.Errorf("migrate Subscription %s: read the ClusterServiceVersion that it has installed: %w", key, err)
	}
	var groups operatorsv1.OperatorGroupList
	var plans v1alpha1.InstallPlanList
	var all v1alpha1.ClusterServiceVersionList
	err := errors.Join(c.Client.List(ctx, &groups, client.InNamespace(key.Namespace)), c.Client.List(ctx, &plans, client.InNamespace(key.Namespace)), c.Client.List(ctx, &all))
	if err != nil {
		return nil, fmt.Errorf("migrate Subscription %s: read what is around it: %w", key, err)
	}
	in.Groups, in.Plans = groups.Items, plans.Items
	in.Others = slices.DeleteFunc(all.Items, func(o v1alpha1.ClusterServiceVersion) bool { return o.IsCopied() || o.UID == in.CSV.UID })
	return in, nil
}

// see reads the objects of the bundle that are there, and what belongs to the Subscription.
func (m *Mover) see(ctx context.Context, key client.ObjectKey, in *migrate.Install, wanted []*unstructured.Unstructured) (*migrate.Seen, error) {
	s := &migrate.Seen{Wanted: wanted, Live: map[migrate.Ref]*unstructured.Unstructured{}}
	for _, u := range wanted {
		live, err := access{m.Client}.read(ctx, migrate.RefOf(u))
		if err != nil {
			return nil, err
		}
		if live != nil {
			s.Live[migrate.RefOf(u)] = live
		}
	}
	found, err := UninstallSubscription(ctx, m.Client, UninstallOptions{Namespace: key.Namespace, Name: key.Name, KeepCRDs: true})
	if err != nil {
		return nil, err
	}
	refs := found.Goes
	operator := migrate.Ref{APIVersion: operatorsv1.GroupVersion.String(), Kind: "Operator", Name: in.Subscription.Spec.Package + "." + key.Namespace}
	if !slices.Contains(refs, operator) {
		refs = append(refs, operator)
	}
	for _, r := range refs {
		live, err := access{m.Client}.read(ctx, r)
		if err != nil {
			return nil, err
		}
		if live != nil {
			s.Owned = append(s.Owned, live)
		}
	}
	return s, nil
}

// read is an object; nil when there is none, or none of its kind.
func (c access) read(ctx context.Context, r migrate.Ref) (*unstructured.Unstructured, error) {
	live := r.Object()
	err := c.Client.Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: r.Name}, live)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", r, err)
	}
	return live, nil
}
