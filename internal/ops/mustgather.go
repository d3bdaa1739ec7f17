package ops

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	operatorsv2 "fairlead.dev/fairlead/api/operators/v2"
	"fairlead.dev/fairlead/internal/messages"
)

// Gathering is what a support archive is made from.
type Gathering struct {
	Client client.Reader
	// Logs opens the end of the log of a container, or of the one before it; nil gathers no logs.
	Logs func(ctx context.Context, pod client.ObjectKey, container string, previous bool) (io.ReadCloser, error)
	// Doctor examines the set-up of the cluster; nil examines nothing.
	Doctor func(ctx context.Context) *Diagnosis
	// Namespace is that of the manager, which is gathered as well as those of operators and catalogs.
	Namespace string
	// Mine is the namespace that is gathered alone by a user who may not list the objects of all; empty is none.
	Mine string
	// About is the beginning of the page that the archive begins with: who made it, of which cluster.
	About string
	Now   time.Time
}

// Gathered says what an archive has, and what it lacks.
type Gathered struct {
	Files int `json:"files"`
	// Notes are what could not be read, and why.
	Notes []string `json:"notes,omitempty"`
}

// maxLog bounds the log of a container in an archive, in bytes.
const maxLog = 5 << 20

// gatheredKinds are those whose objects are gathered, wherever they are.
var gatheredKinds = []schema.GroupVersionKind{
	v1alpha1.GroupVersion.WithKind(v1alpha1.CatalogSourceKind), v1alpha1.GroupVersion.WithKind(v1alpha1.ClusterServiceVersionKind),
	v1alpha1.GroupVersion.WithKind(v1alpha1.InstallPlanKind), v1alpha1.GroupVersion.WithKind(v1alpha1.SubscriptionKind),
	operatorsv1.GroupVersion.WithKind(operatorsv1.OperatorGroupKind), operatorsv1.GroupVersion.WithKind("OLMConfig"), operatorsv1.GroupVersion.WithKind("Operator"),
	operatorsv2.GroupVersion.WithKind("OperatorCondition"),
	olmv1.GroupVersion.WithKind("ClusterCatalog"), olmv1.GroupVersion.WithKind(olmv1.ClusterExtensionKind), olmv1.GroupVersion.WithKind(olmv1.ClusterObjectSetKind),
	{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingAdmissionPolicy"}, {Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingAdmissionPolicyBinding"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingWebhookConfiguration"}, {Group: "admissionregistration.k8s.io", Version: "v1", Kind: "MutatingWebhookConfiguration"},
	{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"}, {Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
}

// gatheredWithin are the kinds that are gathered in the namespaces where those are.
var gatheredWithin = []schema.GroupVersionKind{
	{Group: "apps", Version: "v1", Kind: "Deployment"}, {Version: "v1", Kind: "Pod"}, {Version: "v1", Kind: "Service"}, {Version: "v1", Kind: "ServiceAccount"},
	{Version: "v1", Kind: "Event"}, {Version: "v1", Kind: "Secret"}, {Version: "v1", Kind: "ConfigMap"},
}

// gatherer writes an archive.
type gatherer struct {
	Gathering
	out        *tar.Writer
	result     Gathered
	namespaces map[string]bool
	pods       []*unstructured.Unstructured
}

// MustGather writes an archive, a tar file that is packed with gzip, of what a helper needs: the objects of both APIs, what runs in their
// namespaces, Events, and logs. No value of a Secret or a ConfigMap is in it, in whatever object it stands. What may not be read is noted.
func (g Gathering) MustGather(ctx context.Context, w io.Writer) (*Gathered, error) {
	packed := gzip.NewWriter(w)
	c := &gatherer{Gathering: g, out: tar.NewWriter(packed), namespaces: map[string]bool{g.Namespace: true}}
	for _, kind := range gatheredKinds {
		if err := c.objects(ctx, kind, ""); err != nil {
			return nil, err
		}
	}
	for _, namespace := range slices.Sorted(maps.Keys(c.namespaces)) {
		for _, kind := range gatheredWithin {
			if err := c.objects(ctx, kind, namespace); err != nil {
				return nil, err
			}
		}
	}
	for _, pod := range c.pods {
		if err := c.logs(ctx, pod); err != nil {
			return nil, err
		}
	}
	if err := c.doctor(ctx); err != nil {
		return nil, err
	}
	about := g.About + "\n\nValues of Secrets and ConfigMaps are left out, and what looks like a credential elsewhere.\n"
	if len(c.result.Notes) > 0 {
		about += "\nWhat could not be read:\n- " + strings.Join(c.result.Notes, "\n- ") + "\n"
	}
	if err := c.file("README.txt", []byte(about)); err != nil {
		return nil, err
	}
	if err := errors.Join(c.out.Close(), packed.Close()); err != nil {
		return nil, fmt.Errorf("write the archive: %w", err)
	}
	return &c.result, nil
}

// doctor writes what an examination has found.
func (g *gatherer) doctor(ctx context.Context) error {
	if g.Doctor == nil {
		return nil
	}
	var report strings.Builder
	if err := g.Doctor(ctx).Write(&report); err != nil {
		return fmt.Errorf("examine the cluster: %w", err)
	}
	return g.file("doctor.txt", []byte(messages.Redact(report.String())))
}

func (g *gatherer) note(format string, args ...any) {
	g.result.Notes = append(g.result.Notes, messages.Line(fmt.Sprintf(format, args...), 500))
}

func (g *gatherer) file(name string, content []byte) error {
	h := &tar.Header{Name: path.Join("must-gather", name), Mode: 0o644, Size: int64(len(content)), ModTime: g.Now}
	if err := g.out.WriteHeader(h); err != nil {
		return fmt.Errorf("write %s to the archive: %w", name, err)
	}
	if _, err := g.out.Write(content); err != nil {
		return fmt.Errorf("write %s to the archive: %w", name, err)
	}
	g.result.Files++
	return nil
}

// objects writes the objects of a kind, each to a file. A kind that the cluster does not have, or that may not be listed, is noted.
func (g *gatherer) objects(ctx context.Context, kind schema.GroupVersionKind, namespace string) error {
	where := ""
	if namespace != "" {
		where = " of namespace " + namespace
	}
	copies, next := 0, ""
	for {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		err := g.Client.List(ctx, list, client.InNamespace(namespace), client.Limit(page), client.Continue(next))
		switch {
		case meta.IsNoMatchError(err) || apierrors.IsNotFound(err):
			g.note("the cluster has no kind %s", kind.Kind)
			return nil
		case apierrors.IsForbidden(err) && namespace == "" && next == "" && g.Mine != "" && namespaced(kind):
			g.note("%s", messages.Unseen(err, kind.Kind+" objects of all namespaces", "those of namespace "+g.Mine+" alone are gathered"))
			g.namespaces[g.Mine] = true
			return g.objects(ctx, kind, g.Mine)
		case apierrors.IsForbidden(err):
			g.note("%s", messages.Unseen(err, kind.Kind+" objects"+where, "they are left out"))
			return nil
		case err != nil && ctx.Err() == nil:
			g.note("list the %s objects%s: %v", kind.Kind, where, err)
			return nil
		case err != nil:
			return fmt.Errorf("list the %s objects%s: %w", kind.Kind, where, err)
		}
		for i := range list.Items {
			o := &list.Items[i]
			if kind.Kind == v1alpha1.ClusterServiceVersionKind && v1alpha1.IsCopied(o) {
				copies++
				continue
			}
			if err := g.object(kind, o, namespace); err != nil {
				return err
			}
		}
		if next = list.GetContinue(); next == "" {
			break
		}
	}
	if copies > 0 {
		g.note("%d copies of ClusterServiceVersions are left out", copies)
	}
	return nil
}

// namespaced reports whether objects of a kind that is gathered everywhere are in namespaces.
func namespaced(kind schema.GroupVersionKind) bool {
	return kind.Group == operatorsv1.GroupName && kind.Kind != "OLMConfig" && kind.Kind != "Operator"
}

func (g *gatherer) object(kind schema.GroupVersionKind, o *unstructured.Unstructured, namespace string) error {
	switch {
	case namespace == "" && o.GetNamespace() != "":
		g.namespaces[o.GetNamespace()] = true
	case kind.Kind == "Pod":
		g.pods = append(g.pods, o.DeepCopy())
	}
	if kind.Kind == olmv1.ClusterExtensionKind {
		if into, _, _ := unstructured.NestedString(o.Object, "spec", "namespace"); into != "" {
			g.namespaces[into] = true
		}
	}
	if kind.Kind == "CustomResourceDefinition" && o.GetLabels() == nil && !strings.HasSuffix(o.GetName(), v1alpha1.GroupVersion.Group) && !strings.HasSuffix(o.GetName(), olmv1.GroupName) {
		unstructured.RemoveNestedField(o.Object, "spec", "versions") // of others the schemas say nothing here
	}
	redact(o)
	text, err := messages.YAML(o.Object)
	if err != nil {
		return fmt.Errorf("write %s %s as YAML: %w", kind.Kind, o.GetName(), err)
	}
	dir := "cluster"
	if o.GetNamespace() != "" {
		dir = path.Join("namespaces", o.GetNamespace())
	}
	return g.file(path.Join(dir, kind.Kind, o.GetName()+".yaml"), text)
}

// logs writes the ends of the logs of a pod.
func (g *gatherer) logs(ctx context.Context, pod *unstructured.Unstructured) error {
	if g.Logs == nil {
		return nil
	}
	containers, _, _ := unstructured.NestedSlice(pod.Object, "spec", "containers")
	statuses, _, _ := unstructured.NestedSlice(pod.Object, "status", "containerStatuses")
	restarted := map[string]bool{}
	for _, s := range statuses {
		if s, ok := s.(map[string]any); ok {
			count, _, _ := unstructured.NestedInt64(s, "restartCount")
			name, _, _ := unstructured.NestedString(s, "name")
			restarted[name] = count > 0
		}
	}
	key := client.ObjectKeyFromObject(pod)
	for _, c := range containers {
		c, ok := c.(map[string]any)
		if !ok {
			continue
		}
		name, _, _ := unstructured.NestedString(c, "name")
		for _, previous := range []bool{false, true} {
			if previous && !restarted[name] {
				continue
			}
			if err := g.log(ctx, key, name, previous); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *gatherer) log(ctx context.Context, pod client.ObjectKey, container string, previous bool) error {
	file := container + ".log"
	if previous {
		file = container + ".previous.log"
	}
	in, err := g.Logs(ctx, pod, container, previous)
	if err != nil {
		g.note("read the log of container %s of pod %s: %v", container, pod, err)
		return nil
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxLog))
	if err != nil {
		g.note("read the log of container %s of pod %s: %v", container, pod, err)
	}
	return g.file(path.Join("namespaces", pod.Namespace, "logs", pod.Name, file), []byte(messages.Redact(string(text))))
}
