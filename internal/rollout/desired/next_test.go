package desired

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/bundle/registryv1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/internal/schedule"
	"fairlead.dev/fairlead/test/must"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// extension is one of package a, with annotations in pairs.
func extension(annotations ...string) *olmv1.ClusterExtension {
	ext := &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: "my", Generation: 1, Annotations: map[string]string{}}}
	ext.Spec.Namespace, ext.Spec.ProgressDeadlineMinutes = "ops", 10
	for i := 0; i < len(annotations); i += 2 {
		ext.Annotations[annotations[i]] = annotations[i+1]
	}
	return ext
}

func bundleOf(v string) Bundle {
	return Bundle{Package: "a", Name: "a.v" + v, Version: v, Image: "registry.example.com/a:v" + v}
}

// made is a revision of a version, made an hour ago, with annotations in pairs.
func made(number int64, v string, state string, annotations ...string) olmv1.ClusterObjectSet {
	t := &Target{Bundle: bundleOf(v)}
	r := olmv1.ClusterObjectSet{ObjectMeta: metav1.ObjectMeta{Name: revision.Name("my", number), CreationTimestamp: metav1.NewTime(now.Add(-time.Hour)),
		Annotations: t.Annotations(extension(), t.inputs(extension(), registryv1.BuiltIn), map[string]string{ProviderKey: string(registryv1.BuiltIn)})}}
	r.Spec.Revision = number
	for i := 0; i < len(annotations); i += 2 {
		r.Annotations[annotations[i]] = annotations[i+1]
	}
	switch state {
	case "installed":
		meta.SetStatusCondition(&r.Status.Conditions, olmv1.NewCondition(olmv1.TypeSucceeded, "True", olmv1.ReasonSucceeded, ""))
	case "failed":
		meta.SetStatusCondition(&r.Status.Conditions, olmv1.NewCondition(olmv1.TypeProgressing, "False", olmv1.ReasonProgressDeadlineExceeded, ""))
	case "archived":
		r.Spec.LifecycleState = olmv1.LifecycleStateArchived
	}
	return r
}

func offers(v string) Offer {
	return Offer{Result: &resolution.ExtensionResult{Catalog: "cat", Bundle: &catalog.BundleInfo{Package: "a", Name: "a.v" + v, VersionText: v, Image: "registry.example.com/a:v" + v}}}
}

// TestNext: the step for each state of the revisions, the spec and the offer.
func TestNext(t *testing.T) {
	var (
		nothing  = Offer{Result: &resolution.ExtensionResult{}}
		conflict = Offer{Conflict: &resolution.Conflict{}}
		rollback = []string{revision.OnFailureKey, revision.OnFailureRollback}
		v1       = made(1, "1.0.0", "installed")
		rolling  = made(2, "1.1.0", "rolling")
		fresh    = made(2, "1.1.0", "rolling")
		failed   = made(2, "1.1.0", "failed")
		repeats  = made(2, "1.0.0", "failed")
		undone   = made(3, "1.0.0", "installed", CopyKey, "my-1", FailedKey, failed.Annotations[InputsKey], FailedNameKey, "my-2")
	)
	rolling.Spec.CollisionProtection = olmv1.CollisionProtectionPrevent
	adopting := made(2, "1.1.0", "rolling")
	adopting.Spec.CollisionProtection = olmv1.CollisionProtectionIfNoController
	// What failed may not adopt, and what was made to roll it back may, since leave was given in between.
	refused, refusedAdopting, rolledBack := made(2, "1.1.0", "failed"), made(2, "1.1.0", "failed"), undone.DeepCopy()
	refused.Spec.CollisionProtection = olmv1.CollisionProtectionPrevent
	refusedAdopting.Spec.CollisionProtection = olmv1.CollisionProtectionIfNoController
	rolledBack.Spec.CollisionProtection = olmv1.CollisionProtectionIfNoController
	leave := append(rollback[:2:2], revision.AdoptKey, "true")
	fresh.CreationTimestamp = metav1.NewTime(now.Add(-time.Minute))
	within := func(o Offer, text string) Offer { o.Range = text; return o }
	configured := extension()
	configured.Spec.Config = &olmv1.ClusterExtensionConfig{ConfigType: "Inline", Inline: &apiextensionsv1.JSON{Raw: []byte(`{"x":1}`)}}
	configured.Generation = 2
	changed := extension(rollback...)
	changed.Generation = 2
	for name, c := range map[string]struct {
		ext       *olmv1.ClusterExtension
		revisions revision.History
		offer     Offer
		want      string // the action and the bundle, what is repeated, what else is possible
		err       string
		after     time.Duration
	}{
		"the first installation":                        {offer: offers("1.0.0"), want: "Write a.v1.0.0"},
		"nothing is decided":                            {offer: Offer{}, want: "Stay"},
		"a conflict, nothing is installed":              {offer: conflict, want: "Stay"},
		"up to date":                                    {revisions: revision.History{v1}, offer: offers("1.0.0"), want: "Keep a.v1.0.0"},
		"leave to adopt what is there":                  {ext: extension(revision.AdoptKey, "true"), revisions: revision.History{rolling}, offer: offers("1.1.0"), want: "Write a.v1.1.0"},
		"leave to adopt is given already":               {ext: extension(revision.AdoptKey, "true"), revisions: revision.History{adopting}, offer: offers("1.1.0"), want: "Keep a.v1.1.0"},
		"leave to adopt is taken back":                  {revisions: revision.History{adopting}, offer: offers("1.1.0"), want: "Keep a.v1.1.0"},
		"leave to adopt what a rollout failed on":       {ext: extension(leave...), revisions: revision.History{v1, refused}, offer: offers("1.1.0"), want: "Write a.v1.1.0"},
		"leave to adopt, and no catalogs":               {ext: extension(leave...), revisions: revision.History{v1, refused}, want: "Write a.v1.0.0 of my-1 for my-2"},
		"leave to adopt after a rollback":               {ext: extension(leave...), revisions: revision.History{v1, refused, *rolledBack}, offer: offers("1.1.0"), want: "Write a.v1.1.0"},
		"leave to adopt did not help":                   {ext: extension(leave...), revisions: revision.History{v1, refusedAdopting, *rolledBack}, offer: offers("1.1.0"), want: "Refuse a.v1.1.0", err: "the rollout of revision my-2 failed"},
		"leave to adopt, what failed is removed":        {ext: extension(leave...), revisions: revision.History{v1, *rolledBack}, offer: offers("1.1.0"), want: "Refuse a.v1.1.0", err: "the rollout of revision my-2 failed"},
		"an upgrade":                                    {revisions: revision.History{v1}, offer: offers("1.1.0"), want: "Write a.v1.1.0"},
		"another configuration":                         {ext: configured, revisions: revision.History{v1}, offer: offers("1.0.0"), want: "Write a.v1.0.0"},
		"a conflict, what is installed is kept":         {revisions: revision.History{v1}, offer: conflict, want: "Keep a.v1.0.0"},
		"a conflict, another configuration":             {ext: configured, revisions: revision.History{v1}, offer: conflict, want: "Write a.v1.0.0"},
		"a conflict, another range":                     {ext: configured, revisions: revision.History{v1}, offer: within(conflict, ">1.0.0"), want: "Stay"},
		"a conflict, a range that makes no sense":       {ext: configured, revisions: revision.History{v1}, offer: within(conflict, "?"), want: "Stay"},
		"a conflict, what rolls out is in the range":    {revisions: revision.History{v1, rolling}, offer: within(conflict, ">1.0.0"), want: "Keep a.v1.1.0"},
		"a conflict, what rolls out is not":             {revisions: revision.History{v1, fresh}, offer: within(conflict, "1.0.0"), want: "Wait a.v1.0.0", after: 4 * time.Minute},
		"no catalog is selected":                        {revisions: revision.History{v1}, offer: nothing, want: "Keep a.v1.0.0"},
		"the rollout continues":                         {revisions: revision.History{v1, fresh}, offer: offers("1.1.0"), want: "Keep a.v1.1.0"},
		"a newer version, the rollout is young":         {revisions: revision.History{v1, fresh}, offer: offers("1.2.0"), want: "Wait a.v1.2.0", after: 4 * time.Minute},
		"a newer version, the rollout is old":           {revisions: revision.History{v1, rolling}, offer: offers("1.2.0"), want: "Write a.v1.2.0"},
		"a newer version, for another spec":             {ext: changed, revisions: revision.History{v1, fresh}, offer: offers("1.2.0"), want: "Write a.v1.2.0"},
		"a newer version, for another image":            {ext: extension(snapshot.BundleImageKey, "r/a@sha256:1"), revisions: revision.History{v1, fresh}, offer: offers("1.2.0"), want: "Write a.v1.2.0"},
		"a failed rollout":                              {revisions: revision.History{v1, failed}, offer: offers("1.1.0"), want: "Keep a.v1.1.0"},
		"a failed rollout, a newer version":             {revisions: revision.History{v1, failed}, offer: offers("1.2.0"), want: "Write a.v1.2.0"},
		"a rollback":                                    {ext: extension(rollback...), revisions: revision.History{v1, failed}, offer: offers("1.1.0"), want: "Write a.v1.0.0 of my-1 for my-2"},
		"a rollback, without catalogs":                  {ext: extension(rollback...), revisions: revision.History{v1, failed}, want: "Write a.v1.0.0 of my-1 for my-2"},
		"a rollback, or a newer version":                {ext: extension(rollback...), revisions: revision.History{v1, failed}, offer: offers("1.2.0"), want: "Write a.v1.0.0 of my-1 for my-2, or Write a.v1.2.0"},
		"no rollback for another spec":                  {ext: changed, revisions: revision.History{v1, failed}, offer: offers("1.1.0"), want: "Keep a.v1.1.0"},
		"no rollback of another trust":                  {ext: extension(rollback...), revisions: revision.History{v1, repeats}, offer: offers("1.0.0"), want: "Keep a.v1.0.0"},
		"no rollback of the first installation":         {ext: extension(rollback...), revisions: revision.History{made(1, "1.0.0", "failed")}, offer: offers("1.0.0"), want: "Keep a.v1.0.0"},
		"what failed is not tried again":                {ext: extension(rollback...), revisions: revision.History{v1, failed, undone}, offer: offers("1.1.0"), want: "Refuse a.v1.1.0", err: "the rollout of revision my-2 failed, and revision my-3 rolled back"},
		"what failed is tried again without annotation": {revisions: revision.History{v1, failed, undone}, offer: offers("1.1.0"), want: "Write a.v1.1.0"},
		"what failed, and a newer version":              {ext: extension(rollback...), revisions: revision.History{v1, failed, undone}, offer: offers("1.2.0"), want: "Write a.v1.2.0"},
		"pinned to an earlier revision":                 {ext: extension(RollbackToKey, "1"), revisions: revision.History{made(1, "1.0.0", "archived"), made(2, "1.1.0", "installed")}, offer: offers("1.1.0"), want: "Write a.v1.0.0 of my-1"},
		"pinned to the newest revision":                 {ext: extension(RollbackToKey, "1"), revisions: revision.History{v1}, offer: offers("1.1.0"), want: "Keep a.v1.0.0 of my-1"},
		"pinned to what is repeated already":            {ext: extension(RollbackToKey, "1"), revisions: revision.History{made(2, "1.1.0", "archived"), made(3, "1.0.0", "installed", CopyKey, "my-1")}, want: "Keep a.v1.0.0 of my-3"},
		"pinned to what is not kept":                    {ext: extension(RollbackToKey, "7"), revisions: revision.History{v1}, offer: offers("1.1.0"), want: "Refuse", err: "asks for revision 7, which is not there: the 5 newest are kept"},
		"pinned to no number":                           {ext: extension(RollbackToKey, "x"), revisions: revision.History{v1}, want: "Refuse", err: `is "x", which is not the number of a revision`},
	} {
		t.Run(name, func(t *testing.T) {
			if c.ext == nil {
				c.ext = extension()
			}
			step := Next(c.ext, Observed{Revisions: c.revisions, Providers: []registryv1.CertificateProvider{registryv1.BuiltIn}}, c.offer, now)
			got := string(step.Action)
			for at, more := &step, ""; at != nil; at, more = at.Otherwise, ", or " {
				if more != "" {
					got += more + string(at.Action)
				}
				if at.Target == nil {
					continue
				}
				got += " " + at.Target.Name
				if at.Target.Source != nil {
					got += " of " + at.Target.Source.Name
				}
				if at.Target.Undone != nil {
					got += " for " + at.Target.Undone.Name
				}
			}
			if got != c.want || step.After != c.after || step.Reason == "" {
				t.Errorf("%s after %s, because %q; want %s after %s", got, step.After, step.Reason, c.want, c.after)
			}
			if (step.Err != nil) != (c.err != "") || c.err != "" && (!strings.Contains(step.Err.Error(), c.err) || !errors.As(step.Err, new(*revision.Refusal))) {
				t.Errorf("the error is %v, want %q", step.Err, c.err)
			}
		})
	}
}

// TestInputs: the format is kept in revisions, so another one would be a rollout of every extension.
func TestInputs(t *testing.T) {
	ext := extension()
	ext.Spec.ServiceAccount, ext.Spec.ProgressDeadlineMinutes = &olmv1.ServiceAccountReference{Name: "sa"}, 20
	for config, text := range map[string]string{
		"":                  `{"package":"a","name":"a.v1.0.0","version":"1.0.0","image":"registry.example.com/a:v1.0.0","Renderer":1,"Namespace":"ops","Config":"","Account":"sa","Deadline":20,"Certificates":"` + string(registryv1.BuiltIn) + `"}`,
		`{"y": 2, "x" : 1}`: `{"package":"a","name":"a.v1.0.0","version":"1.0.0","image":"registry.example.com/a:v1.0.0","Renderer":1,"Namespace":"ops","Config":{"x":1,"y":2},"Account":"sa","Deadline":20,"Certificates":"` + string(registryv1.BuiltIn) + `"}`,
	} {
		if config != "" {
			ext.Spec.Config = &olmv1.ClusterExtensionConfig{ConfigType: "Inline", Inline: &apiextensionsv1.JSON{Raw: []byte(config)}}
		}
		sum := sha256.Sum256([]byte(text))
		must.Equal(t, config, (&Target{Bundle: bundleOf("1.0.0")}).inputs(ext, registryv1.BuiltIn), "sha256:"+hex.EncodeToString(sum[:]))
		ext.Spec.Config = nil
	}
}

// TestNamedBy: a signature of a catalog covers the bundle that it named by digest, and no tag.
func TestNamedBy(t *testing.T) {
	record := image.Record(&image.Verification{Outcome: image.Covered, Digest: "sha256:a", Catalog: &image.Origin{Ref: "r/c:v1", Digest: "sha256:c"}})
	for ref, want := range map[string]string{"r/a@sha256:a": "r/c:v1", "r/a:v1": "", "r/a@sha256:b": ""} {
		r := made(1, "1.0.0", "installed", olmv1.BundleReferenceKey, ref, image.OutcomeKey, record)
		request, err := kept(&r).Request(func(bundleio.Origin, *catalog.BundleInfo) (bundleio.Request, error) {
			return bundleio.Request{}, errors.New("no catalog is asked for what a revision has")
		})
		if err != nil || request.Image != ref || !request.ByCatalog || (request.NamedBy != nil) != (want != "") || want != "" && request.NamedBy.Ref != want {
			t.Errorf("%s: %+v, %v", ref, request, err)
		}
	}
	r := made(1, "1.0.0", "installed", olmv1.BundleReferenceKey, "")
	_, err := kept(&r).Request(nil)
	must.Fail(t, "Request", err, "bundle a.v1.0.0 has no image, and no catalog has its manifests any more")
}

// TestUpgradesWait: an upgrade waits for its window, and nothing else does.
func TestUpgradesWait(t *testing.T) {
	var (
		rollback = []string{revision.OnFailureKey, revision.OnFailureRollback}
		v1       = made(1, "1.0.0", "installed")
		rolling  = made(2, "1.1.0", "rolling")
		failed   = made(2, "1.1.0", "failed")
		rules    = schedule.Read("", schedule.Layer{Object: "Namespace ops", Annotations: map[string]string{schedule.WindowKey: "Sun 22:00-23:00 UTC"}})
	)
	configured := extension()
	configured.Spec.Config = &olmv1.ClusterExtensionConfig{ConfigType: "Inline", Inline: &apiextensionsv1.JSON{Raw: []byte(`{"x":1}`)}}
	image := offers("1.0.0")
	image.Result.Bundle.Image = "registry.example.com/a@sha256:b"
	for name, c := range map[string]struct {
		ext       *olmv1.ClusterExtension
		revisions revision.History
		offer     Offer
		want      string // whether the step, and what else is possible, is held
	}{
		"the first installation":               {offer: offers("1.0.0"), want: "Write"},
		"another one, before any has worked":   {revisions: revision.History{made(1, "1.0.0", "failed")}, offer: offers("1.1.0"), want: "Write"},
		"an upgrade":                           {revisions: revision.History{v1}, offer: offers("1.1.0"), want: "Write held"},
		"the same version from another image":  {revisions: revision.History{v1}, offer: image, want: "Write held"},
		"another configuration":                {ext: configured, revisions: revision.History{v1}, offer: offers("1.0.0"), want: "Write"},
		"another one of what rolls out":        {ext: configured, revisions: revision.History{v1, rolling}, offer: offers("1.1.0"), want: "Write"},
		"back to what is installed":            {revisions: revision.History{v1, rolling}, offer: offers("1.0.0"), want: "Write"},
		"the next upgrade":                     {revisions: revision.History{v1, failed}, offer: offers("1.2.0"), want: "Write held"},
		"a rollback, or the next upgrade":      {ext: extension(rollback...), revisions: revision.History{v1, failed}, offer: offers("1.2.0"), want: "Write, or Write held"},
		"a person rolls back":                  {ext: extension(RollbackToKey, "1"), revisions: revision.History{made(1, "1.0.0", "archived"), made(2, "1.1.0", "installed")}, want: "Write"},
		"a person lets it through":             {ext: extension(schedule.NowKey, "1.1.0"), revisions: revision.History{v1}, offer: offers("1.1.0"), want: "Write"},
		"a person lets the bundle through":     {ext: extension(schedule.NowKey, "a.v1.1.0"), revisions: revision.History{v1}, offer: offers("1.1.0"), want: "Write"},
		"a person has let an earlier one pass": {ext: extension(schedule.NowKey, "1.0.1"), revisions: revision.History{v1}, offer: offers("1.1.0"), want: "Write held"},
		"up to date":                           {revisions: revision.History{v1}, offer: offers("1.0.0"), want: "Keep"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.ext == nil {
				c.ext = extension()
			}
			in := Observed{Revisions: c.revisions, Providers: []registryv1.CertificateProvider{registryv1.BuiltIn}, Rules: rules}
			step := Next(c.ext, in, c.offer, now)
			got := ""
			for at := &step; at != nil; at = at.Otherwise {
				if got != "" {
					got += ", or "
				}
				if got += string(at.Action); at.Held != nil {
					got += " held"
					must.Equal(t, "until", at.Held.Until.UTC(), time.Date(2026, 3, 1, 22, 0, 0, 0, time.UTC))
					must.Contain(t, "message", at.Held.Message, "annotate ClusterExtension my with")
				}
			}
			must.Equal(t, "steps", got, c.want)
			opens := Next(c.ext, in, c.offer, time.Date(2026, 3, 1, 22, 0, 0, 0, time.UTC))
			must.Equal(t, "held when it opens", opens.Held, nil)
		})
	}
}
