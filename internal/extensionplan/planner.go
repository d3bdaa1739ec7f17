package extensionplan

import (
	"context"
	"errors"
	"fmt"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/bundle/registryv1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/controller/clusterextension"
	"fairlead.dev/fairlead/internal/ops/preview"
	"fairlead.dev/fairlead/internal/rollout/revision"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Planner tells what would change.
type Planner struct {
	Client  client.Client // nothing is written with it
	Library *preview.Library
	// Fetch gets a bundle.
	Fetch func(ctx context.Context, r bundleio.Request) (*bundle.Bundle, error)
}

// Plan tells what would change for one ClusterExtension of the question. Where the cluster has one of its name, that is what is compared
// with; the object of the question says what is asked for.
func (p Planner) Plan(ctx context.Context, q *preview.Question, name string) (*Plan, error) {
	i := slices.IndexFunc(q.Objects.Extensions, func(e olmv1.ClusterExtension) bool { return e.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("plan ClusterExtension %s: there is none of that name; kubectl get clusterextensions lists them, and -f reads one from a file", name)
	}
	ext := &q.Objects.Extensions[i]
	there := &olmv1.ClusterExtension{} // the object of the question may be in a file
	if err := p.Client.Get(ctx, client.ObjectKey{Name: name}, there); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("read ClusterExtension %s: %w", name, err)
	}
	revisions, err := revision.List(ctx, p.Client, name, there.UID)
	if err != nil {
		return nil, err
	}
	plan := &Plan{Extension: name}
	installed := revision.Installed(revisions)
	if installed != nil {
		plan.Installed = versionOf(installed)
		if v := image.Recorded(installed.Annotations); v != nil {
			plan.Installed.Signature = v.String()
		}
	}
	if c := meta.FindStatusCondition(there.Status.Conditions, olmv1.TypeSignatureVerified); c != nil {
		plan.Signature, plan.SignatureVerified = c.Message, c.Status
	}
	p.losses(ctx, revisions, installed, plan)
	if to, failed := clusterextension.GoesBack(ext, revisions); to != nil {
		return p.goesBack(ctx, q, ext, revisions, to, failed, plan)
	}
	return p.forward(ctx, q, ext, revisions, plan)
}

// forward tells what would change for what catalogs have, or for a revision that the user has gone back to.
func (p Planner) forward(ctx context.Context, q *preview.Question, ext *olmv1.ClusterExtension, revisions []olmv1.ClusterObjectSet, plan *Plan) (*Plan, error) {
	w, err := p.wanted(ctx, q, ext, revisions, plan)
	if err != nil || w == nil {
		return plan, err
	}
	return p.judged(ctx, ext, revisions, w, plan)
}

// judged compares what is wanted with what is installed, and makes the checks of the controller.
func (p Planner) judged(ctx context.Context, ext *olmv1.ClusterExtension, revisions []olmv1.ClusterObjectSet, w *wanted, plan *Plan) (*Plan, error) {
	installed := revision.Installed(revisions)
	plan.Wanted = w.version
	now, err := p.installed(ctx, ext, installed, w.version)
	if err != nil {
		return nil, err
	}
	kept, err := asKept(ctx, ext, w.objects)
	if err != nil {
		plan.Blocked = append(plan.Blocked, err.Error())
		return plan, nil
	}
	plan.compare(now, kept)
	if w.conflict != "" {
		if !plan.Changes() {
			return plan.stays(w.conflict), nil
		}
		plan.Notes = append(plan.Notes, w.conflict+"; "+w.version.Bundle+" is kept, as it is asked for now")
	}
	if !w.repeated {
		plan.refuse(clusterextension.UndoneBefore(ext, revisions, w.version.Bundle, clusterextension.ProviderIn(p.Client.RESTMapper(), installed)))
	}
	return plan, p.check(ctx, ext, revisions, now, w, plan)
}

// wanted is what an extension is to have.
type wanted struct {
	version  Version
	content  string // the digest of the catalog that holds the manifests, where there is no image
	objects  []*unstructured.Unstructured
	repeated bool
	// conflict is why catalogs have nothing, although what is kept may change; empty when they have.
	conflict string
}

// wanted decides as the controller does. Nil is what cannot be had; the plan says why.
func (p Planner) wanted(ctx context.Context, q *preview.Question, ext *olmv1.ClusterExtension, revisions []olmv1.ClusterObjectSet, plan *Plan) (*wanted, error) {
	if back, ok := ext.Annotations[clusterextension.RollbackToKey]; ok {
		return p.repeated(ctx, back, revisions, plan)
	}
	if stop, err := p.image(ctx, q, ext, revisions); stop != nil || err != nil {
		plan.refuse(stop)
		return nil, err
	}
	r, err := q.Named(ctx, p.Library, ext.Name)
	if err != nil {
		return nil, err
	}
	plan.Notes = append(plan.Notes, r.Notes...)
	info, index := r.Chosen()
	installed := revision.Installed(revisions)
	switch {
	case r.Conflict != nil:
		return p.kept(ctx, ext, revisions, r, plan)
	case info != nil:
	case installed == nil:
		return nil, fmt.Errorf("plan ClusterExtension %s: nothing is decided, and nothing is installed", ext.Name)
	default:
		info, index = r.Available(installed.Annotations[olmv1.BundleNameKey])
	}
	version, request, err := p.request(ctx, info, bundleio.Origin{Index: index, Image: r.ImageOf(index), ByCatalog: true}, installed)
	if err != nil {
		return nil, err
	}
	w, err := p.rendered(ctx, ext, version, request, installed, plan)
	if w != nil && version.Image == "" && index != nil {
		w.content = index.Digest()
	}
	return w, err
}

// rendered is a bundle, fetched and rendered. Nil is what cannot be rendered; the plan says why.
func (p Planner) rendered(ctx context.Context, ext *olmv1.ClusterExtension, version Version, request bundleio.Request, installed *olmv1.ClusterObjectSet, plan *Plan) (*wanted, error) {
	b, err := p.Fetch(ctx, request)
	if err != nil {
		return nil, fmt.Errorf("read bundle %s: %w", version.Bundle, err)
	}
	rendered, err := registryv1.Render(b, clusterextension.RenderOptions(ext, clusterextension.ProviderIn(p.Client.RESTMapper(), installed)))
	var config *registryv1.ConfigError
	var invalid *registryv1.InvalidError
	if errors.As(err, &config) || errors.As(err, &invalid) {
		plan.Wanted = version
		plan.Blocked = append(plan.Blocked, err.Error())
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("render bundle %s: %w", version.Bundle, err)
	}
	return &wanted{version: version, objects: clusterextension.Objects(rendered)}, nil
}

// request is how the bundle is had: from its catalog, or, where no catalog has it any more, from its image.
func (p Planner) request(ctx context.Context, info *catalog.BundleInfo, from bundleio.Origin, installed *olmv1.ClusterObjectSet) (Version, bundleio.Request, error) {
	if info == nil {
		v := versionOf(installed)
		if v.Image == "" {
			return v, bundleio.Request{}, fmt.Errorf("bundle %s has no image, and no catalog has it any more: what would change is not known", v.Bundle)
		}
		return v, bundleio.Request{Name: v.Bundle, Image: v.Image, NamedBy: clusterextension.NamedBy(installed), ByCatalog: true}, nil
	}
	v := Version{Bundle: info.Name, Version: info.VersionText, Image: info.Image}
	if from.Index == nil {
		return v, bundleio.Request{Name: info.Name, Image: info.Image, ByCatalog: true}, nil
	}
	request, err := from.Bundle(ctx, p.Client, info, bundleio.Policy{})
	return v, request, err
}

// repeated is the revision that the user has gone back to.
func (p Planner) repeated(ctx context.Context, number string, revisions []olmv1.ClusterObjectSet, plan *Plan) (*wanted, error) {
	for i := range revisions {
		set := &revisions[i]
		if fmt.Sprint(set.Spec.Revision) != number {
			continue
		}
		objects, err := revision.Content(ctx, p.Client, set)
		if errors.As(err, new(*revision.LostContentError)) {
			err = fmt.Errorf("%w; %s, or follow the catalogs again with fairlead upgrade %s", err, revision.Restore, plan.Extension)
		}
		if err != nil {
			return nil, fmt.Errorf("read revision %s, which is to be restored: %w", number, err)
		}
		plan.Notes = append(plan.Notes, "revision "+number+" was rolled back to; the catalogs are ignored")
		return &wanted{version: versionOf(set), objects: objects, repeated: true}, nil
	}
	plan.Blocked = append(plan.Blocked, fmt.Sprintf("annotation %s asks for revision %s, which is not kept; correct or remove the annotation", clusterextension.RollbackToKey, number))
	return nil, nil
}

func versionOf(set *olmv1.ClusterObjectSet) Version {
	return Version{Bundle: set.Annotations[olmv1.BundleNameKey], Version: set.Annotations[olmv1.BundleVersionKey], Image: set.Annotations[olmv1.BundleReferenceKey]}
}

// Live is an extension with what the cluster knows of it: what it has installed, and who it is. A new one is as it was.
func Live(ctx context.Context, reader client.Reader, e *olmv1.ClusterExtension) error {
	there := &olmv1.ClusterExtension{}
	err := reader.Get(ctx, client.ObjectKey{Name: e.Name}, there)
	switch {
	case apierrors.IsNotFound(err):
		e.Status = olmv1.ClusterExtensionStatus{}
		return nil
	case err != nil:
		return fmt.Errorf("read ClusterExtension %s: %w", e.Name, err)
	}
	e.UID, e.Status = there.UID, there.Status
	return nil
}
