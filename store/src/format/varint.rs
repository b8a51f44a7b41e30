//! Small numbers in few bytes.

/// Appends a number, seven bits a byte, low ones first.
pub(crate) fn write(buffer: &mut Vec<u8>, mut number: u64) {
    loop {
        let [low, ..] = number.to_le_bytes();
        number >>= 7;
        if number == 0 {
            buffer.push(low);
            return;
        }
        buffer.push(low | 0x80);
    }
}

/// Appends a number that may be negative: the sign is the lowest bit.
pub(crate) fn write_signed(buffer: &mut Vec<u8>, number: i64) {
    write(buffer, ((number << 1) ^ (number >> 63)).cast_unsigned());
}

/// Reads a number and moves on; `None` if there is none.
pub(crate) fn read(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        number |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// Reads a number that may be negative.
pub(crate) fn read_signed(rest: &mut &[u8]) -> Option<i64> {
    let number = read(rest)?;
    Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for number in [0, 1, -1, 127, 128, -300, i64::MAX, i64::MIN] {
            let mut buffer = Vec::new();
            write_signed(&mut buffer, number);
            let mut rest = buffer.as_slice();
            assert_eq!(read_signed(&mut rest), Some(number));
            assert!(rest.is_empty());
        }
        assert_eq!(read(&mut [0x80_u8].as_slice()), None);
        assert_eq!(read(&mut [0xff_u8; 12].as_slice()), None);
    }
}
