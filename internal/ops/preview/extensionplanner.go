package preview

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/bundle/registryv1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/internal/rollout/desired"
	"fairlead.dev/fairlead/internal/rollout/revision"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Planner reports what would change.
type Planner struct {
	Client  client.Client // nothing is written with it
	Library *Library
	// Fetch gets a bundle.
	Fetch func(ctx context.Context, r bundleio.Request) (*bundle.Bundle, error)
	// Values asks for the values of changed fields.
	Values bool
	// Command is the command line of the plan, for what is advised; empty is that of an extension or a Subscription in the cluster.
	Command string
	// NewNamespace is created along with an extension: that it does not exist yet is not in the way.
	NewNamespace string
}

// decision is the next step of an extension, and why catalogs offer nothing; empty when they do.
type decision struct {
	desired.Step
	ext       *olmv1.ClusterExtension
	revisions revision.History
	conflict  string
}

// Plan reports what would change for one ClusterExtension of the question. The one of its name in the cluster, if any, is what it is compared
// with; the object of the question holds the spec.
func (p Planner) Plan(ctx context.Context, q *Question, name string) (*ExtensionPlan, error) {
	i := slices.IndexFunc(q.Objects.Extensions, func(e olmv1.ClusterExtension) bool { return e.Name == name })
	if i < 0 {
		return nil, &messages.AskedError{Lack: messages.NotThere, Text: fmt.Sprintf("plan ClusterExtension %s: there is none of that name", name), Command: "fairlead list -A lists the operators of both APIs, and -f reads one from a file"}
	}
	live := &olmv1.ClusterExtension{} // the object of the question may be in a file
	if err := p.Client.Get(ctx, client.ObjectKey{Name: name}, live); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("read ClusterExtension %s: %w", name, err)
	}
	revisions, err := revision.List(ctx, p.Client, name, live.UID)
	if err != nil {
		return nil, err
	}
	p.Command = cmp.Or(p.Command, "fairlead plan "+name)
	plan := &ExtensionPlan{Extension: name, Values: p.Values, Command: p.Command}
	installed := revision.Installed(revisions)
	if installed != nil {
		plan.Installed = PlannedVersion{Bundle: installed.Annotations[olmv1.BundleNameKey], Version: installed.Annotations[olmv1.BundleVersionKey], Image: installed.Annotations[olmv1.BundleReferenceKey]}
		if v := image.Recorded(installed.Annotations); v != nil {
			plan.Installed.Signature = v.String()
		}
	}
	if c := meta.FindStatusCondition(live.Status.Conditions, olmv1.TypeSignatureVerified); c != nil {
		plan.Signature, plan.SignatureVerified = c.Message, c.Status
	}
	// Note which revisions besides the one that is installed have lost their content: nothing of that is needed to tell what changes.
	for i := range revisions {
		set := &revisions[i]
		if installed != nil && set.Name == installed.Name {
			continue
		}
		switch losses, err := revision.Losses(ctx, p.Client, set); {
		case err != nil:
			plan.Notes = append(plan.Notes, "not checked whether its content is there: "+err.Error())
		case len(losses) > 0:
			plan.Notes = append(plan.Notes, fmt.Sprintf("revision %d cannot be restored: %v", set.Spec.Revision, &revision.LostContentError{Losses: losses}))
		}
	}
	d, err := p.decide(ctx, q, &q.Objects.Extensions[i], revisions, plan)
	if err != nil {
		return nil, err
	}
	instead := *plan
	instead.Notes, instead.Blocked = slices.Clone(plan.Notes), slices.Clone(plan.Blocked)
	if err := p.follow(ctx, d, plan); err != nil {
		return nil, err
	}
	if d.Otherwise == nil || len(plan.Blocked) == 0 {
		return plan, nil
	}
	source := d.Target.Source.Name
	d.Step = *d.Otherwise
	if err := p.follow(ctx, d, &instead); err != nil || instead.Wanted == (PlannedVersion{}) || len(instead.Blocked) > 0 {
		return plan, nil // the controller cannot write that either
	}
	for _, reason := range plan.Blocked {
		instead.Notes = append(instead.Notes, fmt.Sprintf("revision %s cannot be restored: %s", source, reason))
	}
	return &instead, nil
}

// decide returns the next step, by the function that the controller calls.
func (p Planner) decide(ctx context.Context, q *Question, ext *olmv1.ClusterExtension, revisions revision.History, plan *ExtensionPlan) (decision, error) {
	p.Library.reach(q.Dial)
	var offer desired.Offer
	var unasked error
	if _, pinned := ext.Annotations[desired.RollbackToKey]; !pinned {
		offer, unasked = p.offer(ctx, q, ext, revisions, plan)
	}
	d := decision{ext: ext, revisions: revisions}
	if offer.Conflict != nil {
		d.conflict = offer.Conflict.Error()
	}
	providers, _ := desired.Providers(p.Client.RESTMapper())
	rules, err := reconcile.ReadUpgradeRules(ctx, p.Client, ext.Spec.Namespace)
	if apierrors.IsForbidden(err) {
		plan.Notes, err = append(plan.Notes, "whether it waits for an upgrade window is known of its own annotations alone: "+err.Error()), nil
	}
	if err != nil {
		return d, err
	}
	d.Step = desired.Next(ext, desired.Observed{Revisions: revisions, Providers: providers, Rules: rules.For(olmv1.ClusterExtensionKind+" "+ext.Name, ext.Annotations)}, offer, time.Now())
	if d.Action != desired.Stay {
		return d, nil // a rollback needs no catalog
	}
	return d, unasked
}

// offer asks the catalogs, or the image that the extension names. It is empty where the extension names an image that cannot be installed; the plan
// has the reason.
func (p Planner) offer(ctx context.Context, q *Question, ext *olmv1.ClusterExtension, revisions revision.History, plan *ExtensionPlan) (desired.Offer, error) {
	refusal, err := p.image(ctx, q, ext, revisions)
	if refusal != nil || err != nil {
		plan.refuse(refusal)
		return desired.Offer{}, err
	}
	r, err := q.Named(ctx, p.Library, ext.Name)
	if err != nil {
		return desired.Offer{}, err
	}
	plan.Notes = append(plan.Notes, r.Notes...)
	return desired.Offer{Result: r.result, Conflict: r.Conflict, Range: r.request.Version, Catalogs: r.request.Catalogs}, nil
}

// follow reports what a step changes, and what is in its way.
func (p Planner) follow(ctx context.Context, d decision, plan *ExtensionPlan) error {
	installed, newest := d.revisions.Installed(), d.revisions.Newest()
	if d.Action == desired.Keep && d.Target.Source == nil {
		switch {
		case d.conflict != "":
			plan.stays(d.conflict)
			return nil
		case newest == installed:
			plan.Wanted = plan.Installed
			return nil
		}
		d.Target.Source = newest
		plan.Notes = append(plan.Notes, fmt.Sprintf("revision %s is rolling out", newest.Name))
	}
	objects, err := p.objects(ctx, d, plan)
	if err != nil || objects == nil {
		return err
	}
	now, err := p.installed(ctx, d.ext, installed, plan.Wanted)
	if err != nil {
		return err
	}
	kept, err := asKept(ctx, d.ext, objects)
	if err != nil {
		plan.Blocked = append(plan.Blocked, err.Error())
		return nil
	}
	plan.compare(now, kept)
	if d.conflict != "" && d.Target.Source == nil {
		if !plan.Changes() {
			plan.stays(d.conflict)
			return nil
		}
		plan.Notes = append(plan.Notes, d.conflict+"; "+plan.Wanted.Bundle+" is kept, as it is asked for now")
	}
	switch d.Action {
	case desired.Keep:
		return nil
	case desired.Write:
		if d.Held != nil {
			plan.Notes = append(plan.Notes, d.Held.Message)
		}
	case desired.Wait:
		plan.Notes = append(plan.Notes, fmt.Sprintf("%s: unless that fails or the ClusterExtension changes, this follows in %s", d.Reason, d.After.Round(time.Second)))
	}
	plan.refuse(d.Err)
	change := d.Target.Change(d.ext, d.revisions)
	change.Objects = objects
	return p.check(ctx, change, now, plan)
}

// objects are those of the target of a step. Nil are those that cannot be had; the plan has the reason.
func (p Planner) objects(ctx context.Context, d decision, plan *ExtensionPlan) ([]*unstructured.Unstructured, error) {
	t := d.Target
	if t == nil {
		plan.refuse(d.Err)
		if d.conflict != "" {
			plan.stays(d.conflict)
		}
		return nil, nil
	}
	plan.Wanted = PlannedVersion{Bundle: t.Name, Version: t.Version, Image: t.Image}
	if t.Source != nil {
		// The objects of an earlier revision.
		source, undone := d.Target.Source, d.Target.Undone
		number, pinned := d.ext.Annotations[desired.RollbackToKey]
		if undone != nil {
			plan.Notes = append(plan.Notes, fmt.Sprintf("the rollout of revision %s has failed: it is rolled back to the objects of revision %s, as annotation %s asks for",
				undone.Name, source.Name, revision.OnFailureKey))
		}
		objects, err := revision.Content(ctx, p.Client, source)
		lost := errors.As(err, new(*revision.LostContentError))
		switch {
		case lost && undone != nil:
			plan.refuse(err)
			return nil, nil
		case lost && pinned:
			err = fmt.Errorf("%w; %s, or follow the catalogs again with fairlead upgrade %s", err, revision.Restore, plan.Extension)
		}
		if err != nil {
			return nil, fmt.Errorf("read revision %d, which is to be restored: %w", source.Spec.Revision, err)
		}
		if pinned {
			plan.Notes = append(plan.Notes, "revision "+number+" was rolled back to; the catalogs are ignored")
		}
		return objects, nil
	}
	request, err := t.Request(func(from bundleio.Origin, b *catalog.BundleInfo) (bundleio.Request, error) {
		return from.Bundle(ctx, p.Client, b, bundleio.Policy{})
	})
	var b *bundle.Bundle
	if err == nil {
		if b, err = p.Fetch(ctx, request); err != nil {
			err = fmt.Errorf("read bundle %s: %w", t.Name, err)
		}
	}
	var rendered *registryv1.Rendered
	refused := err != nil && d.conflict != ""
	if err == nil {
		plan.ConfigSchema, _ = registryv1.ConfigSchema(b) // rendering says what is wrong with it
		rendered, err = registryv1.Render(b, desired.RenderOptions(d.ext, d.Provider))
		refused = errors.As(err, new(*registryv1.ConfigError)) || errors.As(err, new(*registryv1.InvalidError))
		if err != nil && !refused {
			err = fmt.Errorf("render bundle %s: %w", t.Name, err)
		}
	}
	switch {
	case err == nil:
		return desired.Objects(rendered), nil
	case !refused:
		return nil, err
	case d.conflict != "":
		plan.stays(d.conflict)
	}
	plan.refuse(err)
	return nil, nil
}

// FirstRevision is what a ClusterExtension that does not exist yet would have.
type FirstRevision struct {
	Bundle string
	// Objects are those of the bundle, rendered for the extension.
	Objects []*unstructured.Unstructured
	// Blocked is why it cannot be had.
	Blocked []string
}

// First decides on a ClusterExtension that does not exist yet, and renders its bundle. The owners of objects that exist already are not checked.
func (p Planner) First(ctx context.Context, q *Question, ext *olmv1.ClusterExtension) (*FirstRevision, error) {
	q.Objects.Extensions = append(q.Objects.Extensions, *ext)
	plan := &ExtensionPlan{Extension: ext.Name}
	d, err := p.decide(ctx, q, ext, nil, plan)
	if err != nil {
		return nil, err
	}
	objects, err := p.objects(ctx, d, plan)
	if err != nil {
		return nil, err
	}
	return &FirstRevision{Blocked: plan.Blocked, Bundle: plan.Wanted.Bundle, Objects: objects}, nil
}

// stays is the plan of an extension for which nothing can be decided: what is installed stays as it is.
func (p *ExtensionPlan) stays(conflict string) {
	p.Wanted = PlannedVersion{}
	p.Blocked = append(p.Blocked, conflict)
}

// image reads the bundle that an extension names by its image, for the question to be about it. A stop is what the extension says wrong.
func (p Planner) image(ctx context.Context, q *Question, ext *olmv1.ClusterExtension, revisions []olmv1.ClusterObjectSet) (stop, err error) {
	ref, err := snapshot.BundleImage(ext)
	if err != nil || ref == "" {
		return err, nil
	}
	x := snapshot.KnownBundleImage(revision.Installed(revisions), ref)
	if x == nil {
		b, err := p.Fetch(ctx, bundleio.Request{Image: ref})
		if err != nil {
			return nil, fmt.Errorf("read image %s, which annotation %s of ClusterExtension %s names: %w", ref, snapshot.BundleImageKey, ext.Name, err)
		}
		if x, err = snapshot.ReadBundleImage(b, ref); err != nil {
			return fmt.Errorf("install image %s: %w", ref, err), nil
		}
	}
	if ext.Spec.Source.Catalog != nil {
		if _, ok := x.Package(ext.Spec.Source.Catalog.PackageName); !ok {
			return snapshot.WrongPackage(ref, ext.Spec.Source.Catalog.PackageName), nil
		}
	}
	q.Images = map[string]*catalog.Index{ext.Name: x}
	return nil, nil
}

// Live gives an extension what the cluster knows of it: what it has installed, and its UID. A new one stays as it is.
func Live(ctx context.Context, reader client.Reader, e *olmv1.ClusterExtension) error {
	live := &olmv1.ClusterExtension{}
	err := reader.Get(ctx, client.ObjectKey{Name: e.Name}, live)
	switch {
	case apierrors.IsNotFound(err):
		e.Status = olmv1.ClusterExtensionStatus{}
		return nil
	case err != nil:
		return fmt.Errorf("read ClusterExtension %s: %w", e.Name, err)
	}
	e.UID, e.Status = live.UID, live.Status
	return nil
}
