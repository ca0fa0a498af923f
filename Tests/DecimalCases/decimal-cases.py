#!/usr/bin/env python3
"""Writes decimal-cases.txt: results of decimal128 arithmetic by Python's `decimal` module (libmpdec).

Run once, in this folder:  python3 decimal-cases.py > decimal-cases.txt
Each line: operation, operands, result, and for numbers the 16 bytes of the result (BID), in hexadecimal.
"""
import decimal
import random
import struct

context = decimal.Context(
    prec=34, Emin=-6143, Emax=6144, clamp=1, rounding=decimal.ROUND_HALF_EVEN, traps=[])
draw = random.Random(722)


def bits(number):
    sign, digits, exponent = number.as_tuple()
    coefficient = int("".join(map(str, digits)) or "0")
    if exponent == "F":
        top = 0x7800 << 112
        coefficient = 0
    elif exponent in ("n", "N"):
        top = (0x7C00 if exponent == "n" else 0x7E00) << 112
    else:
        top = (exponent + 6176) << 113
    return format(sign << 127 | top | coefficient, "032x")


def digits(count):
    style = draw.randrange(6)
    if style == 0:
        return "9" * count
    if style == 1:
        return "1" + "0" * (count - 1)
    if style == 2:
        return "5" * count
    text = "".join(draw.choice("0123456789") for _ in range(count))
    if style == 3:
        cut = draw.randrange(count + 1)
        text = text[:cut] + "0" * (count - cut)
    if style == 4:
        cut = draw.randrange(count + 1)
        text = text[:cut] + ("5" + "0" * count)[: count - cut]
    return text


def number(near=None):
    kind = draw.randrange(40)
    if kind == 0:
        return draw.choice(["Infinity", "-Infinity", "NaN", "-NaN12", "sNaN7", "NaN999"])
    sign = draw.choice(["", "-"])
    if kind in (1, 2):
        return f"{sign}0E{draw.choice([0, 5, -5, 6111, -6176, 40, -40]):+d}"
    count = draw.choice([1, 2, 5, 16, 17, 33, 34, 34, draw.randrange(1, 35)])
    if near is not None and draw.randrange(3):
        exponent = near + draw.randrange(-40, 41)
    else:
        exponent = draw.choice(
            [0, 0, draw.randrange(-10, 11), draw.randrange(-80, 81), draw.randrange(-6176, 6112),
             6111, 6100, -6176, -6170, -3088, 3072])
    exponent = max(-6176, min(6111, exponent))
    return f"{sign}{digits(count)}E{exponent:+d}"


def read(text):
    return context.create_decimal(text)


def texts(count):
    """Longer than 34 digits, so that reading rounds."""
    for _ in range(count):
        whole = draw.choice(["", digits(draw.choice([1, 3, 34, 35, 36, 37, 50, 90]))])
        part = draw.choice(["", digits(draw.choice([1, 3, 34, 35, 36, 60]))])
        if not whole and not part:
            whole = "0"
        text = draw.choice(["", "-", "+"]) + draw.choice(["", "000"]) + whole
        text += "." + part if part or draw.randrange(4) == 0 else ""
        exponent = draw.choice([None, 0, 7, -7, 6111, 6100, 6144, 6145, -6143, -6176, -6200, 99999])
        if exponent is not None:
            text += f"{draw.choice('eE')}{exponent:+d}" if draw.randrange(2) else f"E{exponent}"
        yield text


def main():
    for text in texts(400):
        value = read(text)
        print("text", text, value, bits(value))
    for _ in range(300):
        text = number()
        value = read(text)
        print("text", text, value, bits(value))
    operations = {
        "add": context.add, "subtract": context.subtract,
        "multiply": context.multiply, "divide": context.divide}
    for name, operation in operations.items():
        for _ in range(350):
            left = read(number())
            exponent = left.as_tuple().exponent
            right = read(number(exponent if isinstance(exponent, int) else None))
            if draw.randrange(8) == 0 and left.is_finite():
                # Close to each other: cancellation, and quotients near 1.
                right = context.next_plus(left) if draw.randrange(2) else context.next_minus(left)
            result = operation(left, right)
            print(name, left, right, result, bits(result))
    for _ in range(300):
        left = read(number())
        right = read(number(left.as_tuple().exponent if left.is_finite() else None))
        if draw.randrange(3) == 0 and left.is_finite():
            right = draw.choice([context.next_plus(left), context.normalize(left), -left])
        if left.is_nan() or right.is_nan():
            continue
        print("compare", left, right, context.compare(left, right))
    for _ in range(250):
        pattern = draw.choice([
            draw.getrandbits(64), draw.getrandbits(52), 0x3FF << 52 | draw.getrandbits(52),
            struct.unpack("<Q", struct.pack("<d", draw.randrange(1 << 53) / 100))[0],
            struct.unpack("<Q", struct.pack("<d", float(draw.getrandbits(200))))[0]])
        value = struct.unpack("<d", struct.pack("<Q", pattern))[0]
        if value != value:
            continue
        result = context.create_decimal_from_float(value)
        print("fromDouble", format(pattern, "016x"), result, bits(result))
        text = read(number())
        if not text.is_nan():
            pattern = struct.unpack("<Q", struct.pack("<d", float(text)))[0]
            print("toDouble", text, format(pattern, "016x"))


main()
