package migrate

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/test/must"
)

// release are the Secrets of a release in pieces of a size.
func release(t *testing.T, version int, status, manifest string, size int) (out []corev1.Secret) {
	t.Helper()
	text, err := json.Marshal(map[string]any{"name": "kite", "version": version, "info": map[string]any{"status": status}, "manifest": manifest})
	if err != nil {
		t.Fatal(err)
	}
	data := pack(t, string(text))
	name := fmt.Sprintf("sh.helm.release.v1.kite.v%d", version)
	var more []string
	for i := 0; i == 0 || i*size < len(data); i++ {
		s := corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: name, Labels: HelmLabels("kite")}, Data: map[string][]byte{helmPiece: data[i*size : min(len(data), (i+1)*size)]}}
		if i == 0 {
			s.Labels["status"], s.Labels["type"] = status, "index"
		} else {
			s.Name = fmt.Sprintf("%s-%d", name, i)
			s.Labels["type"] = "chunk"
			more = append(more, s.Name)
		}
		out = append(out, s)
	}
	if out[0].Data[helmPieces], err = json.Marshal(more); err != nil {
		t.Fatal(err)
	}
	return out
}

const manifest = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ops"}}
---
# a comment
{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b","namespace":"ops"},"data":{"n":"1"}}
`

// TestTheNewestDeployedReleaseIsFound among older, newer and failed ones, in one Secret or several.
func TestTheNewestDeployedReleaseIsFound(t *testing.T) {
	var all []corev1.Secret
	all = append(all, release(t, 3, "failed", manifest, 40)...)
	all = append(all, release(t, 2, "deployed", manifest, 40)...)
	all = append(all, release(t, 1, "superseded", manifest, 1000)...)
	r, err := Deployed(all)
	if err != nil || r == nil || r.Version != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	objects, err := r.Objects()
	if err != nil || len(objects) != 2 || objects[1].GetName() != "b" {
		t.Errorf("%v, %v", objects, err)
	}
	whole := release(t, 7, "deployed", manifest, 1000)[0]
	whole.Data = map[string][]byte{helmWhole: []byte(base64.StdEncoding.EncodeToString(whole.Data[helmPiece]))}
	if r, err = Deployed(append(all, whole)); err != nil || r.Version != 7 {
		t.Errorf("as Helm writes it: %+v, %v", r, err)
	}
	for _, none := range [][]corev1.Secret{nil, release(t, 1, "failed", manifest, 100), release(t, 1, "pending-install", manifest, 100)} {
		if r, err := Deployed(none); r != nil || err != nil {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

func TestHostileReleases(t *testing.T) {
	index := func(data map[string][]byte) []corev1.Secret {
		labels := HelmLabels("kite")
		labels["status"] = "deployed"
		data[helmPieces] = append([]byte{}, data[helmPieces]...)
		return []corev1.Secret{{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "r", Labels: labels}, Data: data}}
	}
	many := must.Value(json.Marshal(make([]string, maxChunks)))(t)
	for name, test := range map[string]struct {
		secrets []corev1.Secret
		want    string
	}{
		"a bomb":         {index(map[string][]byte{helmPiece: bomb(t, maxReleaseText+1)}), "when it is decompressed"},
		"not compressed": {index(map[string][]byte{helmPiece: []byte("text")}), "not compressed"},
		"cut short":      {release(t, 1, "deployed", manifest, 40)[:2], "which has a part of it"},
		"many pieces":    {index(map[string][]byte{helmPieces: many}), "in 12 Secrets"},
		"a list of what": {index(map[string][]byte{helmPieces: []byte(`{`)}), "does not list"},
		"not a release":  {index(map[string][]byte{helmPiece: pack(t, "[]")}), "no JSON"},
	} {
		if r, err := Deployed(test.secrets); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %+v, %v, want %q", name, r, err, test.want)
		}
	}
	for name, text := range map[string]string{"no objects": "---\n", "not JSON": "kind: ConfigMap\n", "many objects": strings.Repeat(manifest, maxReleaseParts)} {
		if objects, err := (&HelmRelease{Manifest: text}).Objects(); err == nil {
			t.Errorf("%s: %d objects", name, len(objects))
		}
	}
}

func FuzzDeployed(f *testing.F) {
	f.Add([]byte("text"), []byte(`["r"]`))
	f.Add([]byte{0x1f, 0x8b, 8, 0}, []byte(`[]`))
	f.Fuzz(func(t *testing.T, piece, pieces []byte) {
		labels := HelmLabels("kite")
		labels["status"] = helmDeployed
		r, err := Deployed([]corev1.Secret{{ObjectMeta: metav1.ObjectMeta{Name: "r", Labels: labels}, Data: map[string][]byte{helmPiece: piece, helmPieces: pieces}}})
		if err == nil && r != nil {
			_, _ = r.Objects()
		}
	})
}
