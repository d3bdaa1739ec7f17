package bigcatalog

import (
	"bufio"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// hostileEntries is how many entries the channel of most hostile catalogs has.
const hostileEntries = 20_000

// hostiles are catalogs that are made to cost a reader as much as so many bytes can. Each goes for something else that a reader keeps,
// compares or writes out.
var hostiles = map[string]func(w *hostileWriter, bytes int){
	"aliases":    (*hostileWriter).aliases,
	"apis":       (*hostileWriter).apis,
	"channels":   (*hostileWriter).channels,
	"documents":  (*hostileWriter).documents,
	"images":     (*hostileWriter).images,
	"objects":    (*hostileWriter).objects,
	"payloads":   func(w *hostileWriter, bytes int) { w.properties(bytes, "olm.csv.metadata", "description") },
	"properties": func(w *hostileWriter, bytes int) { w.properties(bytes, "custom", "text") },
	"providers":  (*hostileWriter).providers,
	"skips":      (*hostileWriter).skips,
	"texts":      (*hostileWriter).texts,
}

// HostileKinds are the names of the hostile catalogs.
func HostileKinds() []string { return slices.Sorted(maps.Keys(hostiles)) }

// WriteHostile writes a hostile catalog of at most about so many bytes into dir.
func WriteHostile(dir, kind string, bytes int) error {
	write, ok := hostiles[kind]
	if !ok {
		return fmt.Errorf("write hostile catalog %q: %w; there are %v", kind, fs.ErrNotExist, HostileKinds())
	}
	file, err := os.Create(filepath.Join(dir, "catalog.yaml")) // most are JSON, which a file of any name may hold
	if err != nil {
		return err
	}
	w := &hostileWriter{bufio.NewWriterSize(file, 1<<20)}
	write(w, bytes)
	err = w.Flush()
	if closed := file.Close(); err == nil {
		err = closed
	}
	return err
}

// hostileWriter writes a catalog. It remembers the first error until Flush.
type hostileWriter struct{ *bufio.Writer }

func (w *hostileWriter) write(format string, values ...any) { fmt.Fprintf(w, format, values...) }

// pkg writes a package with the default channel stable.
func (w *hostileWriter) pkg() {
	w.write("{\"schema\":\"olm.package\",\"name\":\"hostile\",\"defaultChannel\":\"stable\"}\n")
}

// channel writes a channel in which each entry replaces the one before, with more in some of them.
func (w *hostileWriter) channel(name string, entries int, more func(i int) string) {
	w.write(`{"schema":"olm.channel","package":"hostile","name":%q,"entries":[{"name":"hostile.v0.0.0"}`, name)
	for i := 1; i < entries; i++ {
		w.write(`,{"name":"hostile.v0.0.%d","replaces":"hostile.v0.0.%d"`, i, i-1)
		if more != nil {
			w.write("%s", more(i))
		}
		w.write("}")
	}
	w.write("]}\n")
}

// bundle writes a bundle with more fields and more properties.
func (w *hostileWriter) bundle(i int, fields, properties string) {
	w.write(`{"schema":"olm.bundle","package":"hostile","name":"hostile.v0.0.%d","image":"example.com/h:%d"%s,"properties":[{"type":"olm.package","value":{"packageName":"hostile","version":"0.0.%d"}}%s]}`+"\n",
		i, i, fields, i, properties)
}

// bundles writes many bundles.
func (w *hostileWriter) bundles(n int, properties func(i int) string) {
	for i := range n {
		w.bundle(i, "", properties(i))
	}
}

func nothing(int) string { return "" }

// repeated joins what each makes n times.
func repeated(n int, each func(j int) string) string {
	var text strings.Builder
	for j := range n {
		text.WriteString(each(j))
	}
	return text.String()
}

// properties are large values of one property of each bundle.
func (w *hostileWriter) properties(bytes int, kind, field string) {
	w.pkg()
	w.channel("stable", hostileEntries, nil)
	w.bundles(hostileEntries, func(i int) string {
		return fmt.Sprintf(`,{"type":%q,"value":{%q:%q}}`, kind, field, noise(i, bytes/hostileEntries-300))
	})
}

// apis are many different APIs of each bundle.
func (w *hostileWriter) apis(bytes int) {
	w.pkg()
	w.channel("stable", hostileEntries, nil)
	w.bundles(hostileEntries, func(i int) string {
		return repeated(max(1, bytes/hostileEntries/90), func(j int) string {
			return fmt.Sprintf(`,{"type":"olm.gvk","value":{"group":"g%d.example.com","kind":"K%d","version":"v1alpha1"}}`, j, i)
		})
	})
}

// providers are as many APIs of one bundle as a list may have.
func (w *hostileWriter) providers(bytes int) {
	w.pkg()
	w.channel("stable", 1, nil)
	w.bundle(0, "", repeated(min(80_000, bytes/90), func(j int) string {
		return fmt.Sprintf(`,{"type":"olm.gvk","value":{"group":"g.example.com","kind":"K%d","version":"v1alpha1"}}`, j)
	}))
}

// images are many related images of each bundle.
func (w *hostileWriter) images(bytes int) {
	w.pkg()
	w.channel("stable", hostileEntries, nil)
	for i := range hostileEntries {
		w.bundle(i, `,"relatedImages":[{"name":"x","image":"x"}`+repeated(bytes/hostileEntries/50, func(j int) string {
			return fmt.Sprintf(`,{"name":"n%d","image":"example.com/i%d-%d"}`, j, i, j)
		})+"]", "")
	}
}

// skips are long lists of skips, in as many entries as fit into one object.
func (w *hostileWriter) skips(bytes int) {
	w.pkg()
	list := `,"skips":["x"` + repeated(min(bytes, 8<<20)/200, func(j int) string { return fmt.Sprintf(`,"s%x"`, j) }) + "]"
	w.channel("stable", hostileEntries, func(i int) string {
		if i%1000 > 0 {
			return ""
		}
		return list
	})
	w.bundles(hostileEntries, nothing)
}

// texts are the largest descriptions of packages.
func (w *hostileWriter) texts(bytes int) {
	const each = 7 << 20
	for i := range max(1, bytes/each) {
		w.write(`{"schema":"olm.package","name":"p%d","defaultChannel":"c","description":%q}`+"\n", i, noise(i, each))
		w.write(`{"schema":"olm.channel","package":"p%d","name":"c","entries":[{"name":"b"}]}`+"\n", i)
		w.write(`{"schema":"olm.bundle","package":"p%d","name":"b","image":"example.com/h:1","properties":[{"type":"olm.package","value":{"packageName":"p%d","version":"0.0.1"}}]}`+"\n", i, i)
	}
}

// objects are many objects that mean nothing.
func (w *hostileWriter) objects(bytes int) {
	w.pkg()
	w.channel("stable", 1, nil)
	w.bundle(0, "", "")
	for i := range bytes / 36 {
		w.write(`{"schema":"c%d","name":"n%d"}`+"\n", i, i)
	}
}

// channels are many channels with the same bundles.
func (w *hostileWriter) channels(bytes int) {
	const entries = 100
	w.pkg()
	w.channel("stable", entries, nil)
	for i := range bytes / entries / 55 {
		w.channel(fmt.Sprintf("c%d", i), entries, nil)
	}
	w.bundles(entries, nothing)
}

// documents are bundles of nearly the largest size, which do not compress.
func (w *hostileWriter) documents(bytes int) {
	const each = 7 << 20
	n := max(1, bytes/each)
	w.pkg()
	w.channel("stable", n, nil)
	w.bundles(n, func(i int) string {
		return fmt.Sprintf(`,{"type":"olm.csv.metadata","value":{"description":%q}}`, noise(i, each))
	})
}

// aliases are channels in which all entries have the same long list of skips, written once.
func (w *hostileWriter) aliases(bytes int) {
	const entries = 900
	w.write("schema: olm.package\nname: hostile\ndefaultChannel: c0\n")
	list := strings.TrimSuffix(strings.Repeat("ab,", 10_000), ",")
	for i := range bytes / 90_000 {
		w.write("---\nschema: olm.channel\npackage: hostile\nname: c%d\nentries:\n- {name: hostile.v0.0.0, skips: &s [%s]}\n", i, list)
		for j := 1; j < entries; j++ {
			w.write("- {name: hostile.v0.0.%d, replaces: hostile.v0.0.%d, skips: *s}\n", j, j-1)
		}
	}
	for i := range entries {
		w.write("---\n")
		w.bundle(i, "", "")
	}
}

// noise is text that does not compress well, the same for each seed.
func noise(seed, bytes int) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-"
	r := rand.New(rand.NewPCG(uint64(seed), 0))
	out := make([]byte, 0, max(bytes, 0)+10)
	for len(out) < bytes {
		for n, k := r.Uint64(), 0; k < 10; n, k = n>>6, k+1 {
			out = append(out, letters[n&63])
		}
	}
	return string(out[:max(bytes, 0)])
}
