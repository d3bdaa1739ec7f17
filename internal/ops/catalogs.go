package ops

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// InstalledCatalog is a CatalogSource or ClusterCatalog of a cluster.
type InstalledCatalog struct {
	Kind string `json:"kind"`
	API  string `json:"api"` // v0 or v1
	// Namespace is empty for a ClusterCatalog.
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Source is where the content comes from.
	Source   string `json:"source,omitempty"`
	Priority int    `json:"priority,omitempty"`
	// Serving reports whether there is content, State is the reason of the condition Ready, and Message is what is wrong.
	Serving bool   `json:"serving"`
	State   string `json:"state,omitempty"`
	Message string `json:"message,omitempty"`
	// Digest is that of the content, and Loaded is when it was read.
	Digest string     `json:"digest,omitempty"`
	Loaded *time.Time `json:"loaded,omitempty"`
	// Poll is how often a new image is looked for, empty for never, and Polled when that was done last, as far as the object tells.
	Poll   string     `json:"poll,omitempty"`
	Polled *time.Time `json:"polled,omitempty"`
	// Secrets are the pull secrets of a CatalogSource, by name.
	Secrets []string `json:"secrets,omitempty"`
	// Availability is whether a ClusterCatalog is to be served.
	Availability string `json:"availability,omitempty"`

	stopped, problem bool
}

// unreconciled is the message of a catalog without a status of its spec.
const unreconciled = "not reconciled yet; is the manager running?"

// Describe names the catalog.
func (c InstalledCatalog) Describe() string {
	if c.Namespace == "" {
		return c.Kind + " " + c.Name
	}
	return c.Kind + " " + c.Namespace + "/" + c.Name
}

// digestText finds the digest in the message of Ready, which names the content that is served.
var digestText = regexp.MustCompile(`\bsha256:[0-9a-f]{64}\b`)

// judge adds what the conditions say. Those of an older spec do not count.
func (c *InstalledCatalog) judge(conditions []metav1.Condition, generation int64) {
	ready := meta.FindStatusCondition(conditions, "Ready")
	if ready == nil || ready.ObservedGeneration < generation {
		c.Message = unreconciled
		return
	}
	c.State, c.Serving = ready.Reason, ready.Status == metav1.ConditionTrue
	if !c.Serving || ready.Reason != "Serving" && ready.Reason != olmv1.ReasonAvailable {
		c.Message = ready.Message
	}
	c.stopped = meta.IsStatusConditionTrue(conditions, reconcile.TypeStalled)
	c.problem = !c.Serving && ready.Reason != "Loading" && ready.Reason != olmv1.ReasonReconciling && ready.Reason != olmv1.ReasonSucceeded
}

func viewSource(s *v1alpha1.CatalogSource) InstalledCatalog {
	c := InstalledCatalog{Kind: v1alpha1.CatalogSourceKind, API: "v0", Namespace: s.Namespace, Name: s.Name, Priority: s.Spec.Priority, Source: cmp.Or(s.Spec.Image, s.Spec.Address)}
	if s.Spec.SourceType != v1alpha1.SourceTypeGrpc && s.Spec.ConfigMap != "" {
		c.Source = "ConfigMap " + s.Spec.ConfigMap
	}
	c.Secrets = s.Spec.Secrets
	if u := s.Spec.UpdateStrategy; u != nil && u.RegistryPoll != nil && u.RegistryPoll.Interval != nil {
		c.Poll = u.RegistryPoll.Interval.Duration.String()
	}
	if at := s.Status.LatestImageRegistryPoll; at != nil && !at.IsZero() {
		polled := at.UTC()
		c.Polled = &polled
	}
	c.judge(s.Status.Conditions, s.Generation)
	if ready := meta.FindStatusCondition(s.Status.Conditions, "Ready"); ready != nil && c.Serving {
		c.Digest = digestText.FindString(ready.Message)
	}
	if state := s.Status.GRPCConnectionState; state != nil && c.Serving && !state.LastConnectTime.IsZero() {
		at := state.LastConnectTime.UTC()
		c.Loaded = &at
	}
	return c
}

func viewClusterCatalog(s *olmv1.ClusterCatalog) InstalledCatalog {
	c := InstalledCatalog{Kind: olmv1.ClusterCatalogKind, API: "v1", Name: s.Name, Priority: int(s.Spec.Priority)}
	if s.Spec.Source.Image != nil {
		c.Source = s.Spec.Source.Image.Ref
		if minutes := s.Spec.Source.Image.PollIntervalMinutes; minutes != nil && *minutes > 0 {
			c.Poll = (time.Duration(*minutes) * time.Minute).String()
		}
	}
	c.Availability = string(s.Spec.AvailabilityMode)
	c.judge(s.Status.Conditions, s.Generation)
	if serving := meta.FindStatusCondition(s.Status.Conditions, olmv1.TypeServing); c.Serving && serving != nil && serving.Status != metav1.ConditionTrue { // as its availability mode asks
		c.Serving, c.stopped, c.Message = false, true, cmp.Or(c.Message, serving.Message)
	}
	if source := s.Status.ResolvedSource; source != nil && source.Image != nil {
		_, c.Digest, _ = strings.Cut(source.Image.Ref, "@")
	}
	if s.Status.LastUnpacked != nil {
		at := s.Status.LastUnpacked.UTC()
		c.Loaded = &at
	}
	return c
}

// CatalogListing is the catalogs of a cluster, of both APIs.
type CatalogListing struct {
	Catalogs []InstalledCatalog `json:"catalogs"`
	// Notes are what is left out, and why.
	Notes []string `json:"notes,omitempty"`

	now time.Time
}

// ServedCatalogs is another text when the catalogs that namespaces see serve something else. What may not be listed does not change it.
func ServedCatalogs(ctx context.Context, reader client.Reader, namespaces ...string) string {
	var all []InstalledCatalog
	slices.Sort(namespaces)
	for _, namespace := range slices.Compact(namespaces) {
		var sources v1alpha1.CatalogSourceList
		if err := reader.List(ctx, &sources, client.InNamespace(namespace)); err == nil {
			for i := range sources.Items {
				all = append(all, viewSource(&sources.Items[i]))
			}
		}
	}
	var catalogs olmv1.ClusterCatalogList
	if err := reader.List(ctx, &catalogs); err == nil {
		for i := range catalogs.Items {
			all = append(all, viewClusterCatalog(&catalogs.Items[i]))
		}
	}
	var b strings.Builder
	for _, c := range all {
		fmt.Fprintf(&b, "%s %s %d %t %s\n", c.Describe(), c.Source, c.Priority, c.Serving, c.Digest)
	}
	return b.String()
}

// ListCatalogs lists the ClusterCatalogs, and the CatalogSources of a namespace, or of all when it is empty. What may not be listed becomes a note.
func ListCatalogs(ctx context.Context, reader client.Reader, namespace string) (CatalogListing, error) {
	l := CatalogListing{Catalogs: []InstalledCatalog{}, now: time.Now()}
	var sources v1alpha1.CatalogSourceList
	if err := l.read(reader.List(ctx, &sources, client.InNamespace(namespace)), "CatalogSources"); err != nil {
		return l, err
	}
	for i := range sources.Items {
		l.Catalogs = append(l.Catalogs, viewSource(&sources.Items[i]))
	}
	var catalogs olmv1.ClusterCatalogList
	if err := l.read(reader.List(ctx, &catalogs), "ClusterCatalogs"); err != nil {
		return l, err
	}
	for i := range catalogs.Items {
		l.Catalogs = append(l.Catalogs, viewClusterCatalog(&catalogs.Items[i]))
	}
	if len(l.Notes) > 0 && namespace != "" {
		l.Notes = append(l.Notes, offering(ctx, reader, namespace)...)
	}
	slices.SortFunc(l.Catalogs, func(a, b InstalledCatalog) int {
		return cmp.Or(cmp.Compare(a.API, b.API), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	if len(sources.Items) == 0 && namespace != "" {
		return l, Absent(ctx, reader, namespace)
	}
	return l, nil
}

// offering names the catalogs of other namespaces whose packages a namespace sees: for a user who may not list them.
func offering(ctx context.Context, reader client.Reader, namespace string) (notes []string) {
	var list packagesv1.PackageManifestList
	err := reader.List(ctx, &list, client.InNamespace(namespace))
	switch {
	case rollout.IsUnknownKind(err), apierrors.IsForbidden(err):
		return nil // there is nothing to add
	case err != nil:
		return []string{fmt.Sprintf("whether namespace %s sees packages of CatalogSources of other namespaces is not known: list its PackageManifests: %v", namespace, err)}
	}
	var names []string
	for i := range list.Items {
		s := &list.Items[i].Status
		if name := s.CatalogSourceNamespace + "/" + s.CatalogSource; s.CatalogSourceNamespace != namespace && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return []string{"namespace " + namespace + " sees packages of CatalogSources of other namespaces, too: " + safetext.List(names, maxNamed, ", ") + "; fairlead search lists them"}
}

// read makes a note of what the user may not list. An API that the cluster does not serve has no catalogs.
func (l *CatalogListing) read(err error, what string) error {
	switch {
	case err == nil, rollout.IsUnknownKind(err):
		return nil
	case apierrors.IsForbidden(err):
		l.Notes = append(l.Notes, messages.Unseen(err, what, "they are not shown"))
		return nil
	}
	return fmt.Errorf("list the %s: %w", what, err)
}

// asAsked reports whether a catalog serves content, or serves none because it is switched off.
func (c InstalledCatalog) asAsked() bool {
	return c.Serving || c.State == olmv1.ReasonUserSpecifiedUnavailable
}

// Done reports whether all catalogs are as they are asked for.
func (l CatalogListing) Done() bool {
	return !slices.ContainsFunc(l.Catalogs, func(c InstalledCatalog) bool { return !c.asAsked() })
}

// Write prints a table. The message is its first line.
func (l CatalogListing) Write(w io.Writer) error {
	rows := [][]string{{"NAMESPACE", "NAME", "API", "SOURCE", "PRIORITY", "DIGEST", "AGE", "STATUS"}}
	for _, c := range l.Catalogs {
		mark, age := "✗ ", ""
		if c.asAsked() {
			mark = "✓ "
		}
		if c.Loaded != nil {
			age = duration.HumanDuration(max(0, l.now.Sub(*c.Loaded)))
		}
		status := mark + cmp.Or(c.State, "unknown")
		if c.Message != "" {
			status += ": " + headline(c.Message)
		}
		rows = append(rows, []string{c.Namespace, c.Name, c.API, c.Source, strconv.Itoa(c.Priority), shortDigest(c.Digest), age, status})
	}
	text := messages.Table(rows...)
	if len(l.Catalogs) == 0 {
		text = "there is no catalog; fairlead catalog add creates one\n"
		if len(l.Notes) > 0 {
			text = "no catalog can be shown\n"
		}
	}
	for _, note := range l.Notes {
		text += "note: " + messages.Clean(note) + "\n"
	}
	_, err := io.WriteString(w, text)
	return err
}

// shortDigest is as much of a digest as tells contents apart.
func shortDigest(digest string) string {
	algorithm, hex, found := strings.Cut(digest, ":")
	if !found {
		return digest
	}
	return algorithm + ":" + hex[:min(len(hex), 12)]
}
