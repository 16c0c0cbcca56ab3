package ink

import (
	"fmt"
	"image/color"
	"math"
	"testing"
)

// linear is a channel of sRGB as light (IEC 61966-2-1).
func linear(v uint32) float64 {
	c := float64(v) / 0xffff
	if c <= 0.04045 {
		return c / 12.92
	}
	return math.Pow((c+0.055)/1.055, 2.4)
}

func light(c color.Color) [3]float64 {
	r, g, b, _ := c.RGBA()
	return [3]float64{linear(r), linear(g), linear(b)}
}

// luminance and contrast are those of WCAG 2.2.
func luminance(l [3]float64) float64 { return 0.2126*l[0] + 0.7152*l[1] + 0.0722*l[2] }

func contrast(a, b color.Color) float64 {
	x, y := luminance(light(a)), luminance(light(b))
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// TestContrast holds every role against the backgrounds that terminals have.
func TestContrast(t *testing.T) {
	t.Parallel()
	rgb := func(s uint8) color.Color { return color.RGBA{s, s, s, 0xff} }
	grounds := map[bool][]color.Color{true: {rgb(0), rgb(0x1e), color.RGBA{0x1a, 0x1b, 0x26, 0xff}}, false: {rgb(0xff), rgb(0xf5)}}
	for name, p := range palettes() {
		if name == ThemeTerminal {
			continue // its owner chose the colours
		}
		for dark, r := range map[bool]roles{true: p.dark, false: p.light} { // the third one: TestUnknownGround
			least, rule := 4.5, 1.3
			if name == ThemeHigh {
				least, rule = 7, 3
			}
			for _, on := range grounds[dark] {
				for role, c := range map[string]color.Color{"muted": r.muted, "accent": r.accent, "good": r.good, "warn": r.warn, "bad": r.bad, "place": r.place} {
					if got := contrast(c, on); got < least {
						t.Errorf("%s, dark %v: %s stands out from %v by %.1f to 1, want %.1f", name, dark, role, on, got, least)
					}
				}
				if got := contrast(r.faint, on); got < rule {
					t.Errorf("%s, dark %v: rules stand out from %v by %.1f to 1, want %.1f", name, dark, on, got, rule)
				}
			}
			for role, c := range map[string]color.Color{"good": r.good, "warn": r.warn, "bad": r.bad, "place": r.place, "found": r.accent} {
				if got := contrast(c, r.on); got < 4.5 {
					t.Errorf("%s, dark %v: text on a block of %s stands out by %.1f to 1", name, dark, role, got)
				}
			}
		}
	}
}

// TestUnknownGround holds what is drawn with until a terminal says what its background
// is against both: every ink is as readable on white as on black.
func TestUnknownGround(t *testing.T) {
	t.Parallel()
	for _, name := range []string{ThemeAuto, ThemeSafe} {
		r := palettes()[name].either
		for _, on := range []color.Color{color.White, color.Black} {
			for role, c := range map[string]color.Color{"muted": r.muted, "accent": r.accent, "good": r.good, "warn": r.warn, "bad": r.bad, "place": r.place} {
				if got := contrast(c, on); got < 4.5 {
					t.Errorf("%s: %s stands out from %v by %.2f to 1, want 4.5", name, role, on, got)
				}
				if got := contrast(c, r.on); got < 4.5 {
					t.Errorf("%s: text on a block of %s stands out by %.2f to 1", name, role, got)
				}
			}
			if got := contrast(r.faint, on); got < 3 {
				t.Errorf("%s: rules and what is behind a gate stand out from %v by %.2f to 1, want 3", name, on, got)
			}
		}
	}
	if high := NewTheme(ThemeHigh, UnknownGround); high.Bad.style.GetForeground() != Monochrome().Bad.style.GetForeground() {
		t.Error("high contrast draws in a colour that cannot be one on both grounds")
	}
	for env, want := range map[string]Ground{"": UnknownGround, "15;0": DarkGround, "0;15": LightGround, "0;default;15": LightGround, "0;7": LightGround, "12;8": DarkGround, "0;default": UnknownGround, "7": UnknownGround, "0;-1": UnknownGround} {
		if got := GroundOf(env); got != want {
			t.Errorf("COLORFGBG=%q tells %d, want %d", env, got, want)
		}
	}
}

// blindness simulates what a person without one kind of cone sees (Viénot, Brettel and Mollon 1999, in linear light).
var blindness = map[string][3][3]float64{
	"protan": {{0.11238, 0.88762, 0}, {0.11238, 0.88762, 0}, {0.00401, -0.00401, 1}},
	"deutan": {{0.29275, 0.70725, 0}, {0.29275, 0.70725, 0}, {-0.02234, 0.02234, 1}},
}

// lab is CIE L*a*b* under D65.
func lab(l [3]float64) [3]float64 {
	f := func(t float64) float64 {
		if t > 216.0/24389 {
			return math.Cbrt(t)
		}
		return (24389.0/27*t + 16) / 116
	}
	x := f((0.4124*l[0] + 0.3576*l[1] + 0.1805*l[2]) / 0.95047)
	y := f(luminance(l))
	z := f((0.0193*l[0] + 0.1192*l[1] + 0.9505*l[2]) / 1.08883)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// TestColourBlind wants good, warn and bad of that theme far apart for eyes that miss red or green; the standard theme,
// which they cannot read by colour, shows that the measure can fail.
func TestColourBlind(t *testing.T) {
	t.Parallel()
	nearest := func(r roles) (float64, string) {
		worst, who := math.Inf(1), ""
		for kind, mx := range blindness {
			see := func(c color.Color) [3]float64 {
				l := light(c)
				var out [3]float64
				for i := range out {
					out[i] = max(0, mx[i][0]*l[0]+mx[i][1]*l[1]+mx[i][2]*l[2])
				}
				return lab(out)
			}
			pairs := map[string][2]color.Color{"good and warn": {r.good, r.warn}, "good and bad": {r.good, r.bad}, "warn and bad": {r.warn, r.bad}}
			for pair, cs := range pairs {
				a, b := see(cs[0]), see(cs[1])
				d := math.Sqrt(math.Pow(a[0]-b[0], 2) + math.Pow(a[1]-b[1], 2) + math.Pow(a[2]-b[2], 2))
				if d < worst {
					worst, who = d, fmt.Sprintf("%s: %s", kind, pair)
				}
			}
		}
		return worst, who
	}
	all := palettes()
	for _, r := range []roles{all[ThemeSafe].dark, all[ThemeSafe].light, all[ThemeSafe].either} {
		if d, who := nearest(r); d < 18 {
			t.Errorf("%s are %.0f apart, want 18", who, d)
		}
	}
	if d, _ := nearest(all[ThemeAuto].light); d >= 18 {
		t.Errorf("the standard theme passes with %.0f: this measure tells nothing", d)
	}
}
