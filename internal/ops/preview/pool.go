package preview

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"
	"weak"
)

// Pool has each package once, however many answers have it: users who see the same catalogs share the memory of them, and who sees less has less. It is
// safe for concurrent use, and keeps nothing that no answer has.
type Pool struct {
	mu    sync.Mutex
	kept  map[[sha256.Size]byte]weak.Pointer[Package]
	sweep int // how many are kept before those that are gone are looked for
}

// Share puts packages that are there already in the place of equal ones of an answer. They are not changed after that.
func (p *Pool) Share(a *Answer) error {
	for i, one := range a.Packages {
		text, err := json.Marshal(one)
		if err != nil {
			return fmt.Errorf("keep package %s of catalog %s: %w", one.Name, one.Catalog, err)
		}
		sum := sha256.Sum256(fmt.Appendf(text, "%d", one.priority)) // which is in no JSON
		a.Packages[i] = p.only(sum, one)
	}
	return nil
}

// only is the package of a sum, which is this one where there is none.
func (p *Pool) only(sum [sha256.Size]byte, one *Package) *Package {
	p.mu.Lock()
	defer p.mu.Unlock()
	if there := p.kept[sum].Value(); there != nil {
		return there
	}
	if p.kept == nil {
		p.kept = map[[sha256.Size]byte]weak.Pointer[Package]{}
	}
	if len(p.kept) >= p.sweep {
		for sum, there := range p.kept {
			if there.Value() == nil {
				delete(p.kept, sum)
			}
		}
		p.sweep = max(minSweep, 2*len(p.kept))
	}
	p.kept[sum] = weak.Make(one)
	return one
}

// minSweep is how many packages are kept at least before those that are gone are looked for.
const minSweep = 1000
