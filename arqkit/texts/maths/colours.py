"""The colours of formulas, which their authors chose for black on white."""

import colorsys
import re
from functools import cache

HUES = 12
_HEX = re.compile(r"#([0-9a-f]{3}|[0-9a-f]{6})", re.IGNORECASE)


@cache
def css_colour(name: str) -> str:
    """Return the hexadecimal digits of a colour that CSS names, in any case, or the name itself."""
    from matplotlib.colors import CSS4_COLORS  # half a second, only for the few who need it

    digits = dict(CSS4_COLORS).get(name.lower())
    return str(digits).lower() if digits else name


def dark_class(colour: str) -> str:
    """Return the class of a colour such as `#ff0000`, by which a dark page shows it, or "".

    It is the colour's hue in twelve steps, `tml-grey`, or `tml-white` for what is not seen on
    white. `static/css/maths.css` has a light colour for each.
    """
    digits = _HEX.fullmatch(colour)
    if digits is None:
        return ""
    text = digits[1] if len(digits[1]) == 6 else "".join(2 * digit for digit in digits[1])
    red, green, blue = (int(text[at : at + 2], 16) / 255 for at in (0, 2, 4))
    hue, lightness, saturation = colorsys.rgb_to_hls(red, green, blue)
    if lightness > 0.97:
        return "tml-white"
    return "tml-grey" if saturation < 0.15 else f"tml-hue-{round(hue * HUES) % HUES}"
