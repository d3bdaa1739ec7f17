package resolution

import (
	"errors"
	"math/rand/v2"
	"testing"
)

// tape is a source of chance that begins with given bytes, so that fuzzing steers what is made of it.
type tape struct {
	bytes []byte
	rest  *rand.PCG
}

func (s *tape) Uint64() uint64 {
	if len(s.bytes) == 0 {
		return s.rest.Uint64()
	}
	b := s.bytes[0]
	s.bytes = s.bytes[1:]
	return uint64(b) << 56
}

// FuzzResolve compares requests made of bytes with the documented steps, and demands of each what holds for every decision.
func FuzzResolve(f *testing.F) {
	for i := range 20 {
		seed := make([]byte, 8*i)
		for j := range seed {
			seed[j] = byte(i * (j + 7) * 31)
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, bytes []byte) {
		in := randomRequest(t, rand.New(&tape{bytes, rand.NewPCG(1, 2)}))
		result, text, _ := decideExtension(t, in)
		_, err := Extension(t.Context(), in)
		if got, want := extensionOutcome(result, err), steps(t, in); got != want {
			t.Fatalf("decided %q, by the steps it is %q\n%s", got, want, text)
		}
		var conflict *Conflict
		if errors.As(err, &conflict) {
			checkMinimal(t, conflict)
		}
	})
}
