//! The encodings of fonts with one byte a character, and the names of glyphs.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BaseEncoding {
    WinAnsi,
    MacRoman,
    Standard,
}

const WIN_ANSI_80: &str = "€•‚ƒ„…†‡ˆ‰Š‹Œ•Ž••‘’“”•–—˜™š›œ•žŸ";
const MAC_ROMAN_80: &str = "ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø¿¡¬√ƒ≈∆«»…\u{a0}ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄€‹›ﬁﬂ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\u{f8ff}ÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ";
/// From 0xa0; a blank has no meaning.
const STANDARD_A0: &str =
    " ¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ –†‡· ¶•‚„”»…‰ ¿ `´ˆ˜¯˘˙¨ ˚¸ ˝˛ˇ—                Æ ª    ŁØŒº     æ   ı  łøœß    ";

impl BaseEncoding {
    pub(super) fn with_name(name: &[u8]) -> Option<Self> {
        match name {
            b"WinAnsiEncoding" => Some(Self::WinAnsi),
            b"MacRomanEncoding" => Some(Self::MacRoman),
            b"StandardEncoding" => Some(Self::Standard),
            _ => None,
        }
    }

    /// The table of all 256 codes.
    pub(super) fn table(self) -> Vec<Option<char>> {
        (0..=u8::MAX).map(|code| self.character(code)).collect()
    }

    fn character(self, code: u8) -> Option<char> {
        let of = |table: &str, from: u8| table.chars().nth(usize::from(code - from));
        match (self, code) {
            (Self::Standard, 0x27) => Some('’'),
            (Self::Standard, 0x60) => Some('‘'),
            (_, 0x09 | 0x0a | 0x0d) => Some(' '),
            (_, 0x20..=0x7e) => Some(char::from(code)),
            (_, ..=0x7f) => None,
            (Self::WinAnsi, 0x80..=0x9f) => of(WIN_ANSI_80, 0x80),
            // A hyphen, which is shown everywhere.
            (Self::WinAnsi, 0xad) => Some('-'),
            (Self::WinAnsi, _) => Some(char::from(code)),
            (Self::MacRoman, _) => of(MAC_ROMAN_80, 0x80),
            (Self::Standard, ..=0x9f) => None,
            (Self::Standard, _) => of(STANDARD_A0, 0xa0).filter(|&character| character != ' '),
        }
    }
}

const NAMES: &str = "space   exclam ! quotedbl \" numbersign # dollar $ percent % ampersand & quotesingle ' parenleft ( parenright ) asterisk * plus + comma , hyphen - minus − period . slash / \
zero 0 one 1 two 2 three 3 four 4 five 5 six 6 seven 7 eight 8 nine 9 colon : semicolon ; less < equal = greater > question ? at @ bracketleft [ backslash \\ bracketright ] asciicircum ^ underscore _ grave ` \
braceleft { bar | braceright } asciitilde ~ section § paragraph ¶ quoteleft ‘ quoteright ’ quotedblleft “ quotedblright ” quotesinglbase ‚ quotedblbase „ guillemotleft « guillemotright » guilsinglleft ‹ guilsinglright › \
endash – emdash — ellipsis … bullet • dagger † daggerdbl ‡ periodcentered · fi ﬁ fl ﬂ ff ﬀ ffi ﬃ ffl ﬄ copyright © registered ® trademark ™ degree ° cent ¢ sterling £ yen ¥ Euro € florin ƒ fraction ⁄ currency ¤ \
exclamdown ¡ questiondown ¿ ordfeminine ª ordmasculine º plusminus ± multiply × divide ÷ logicalnot ¬ mu µ onehalf ½ onequarter ¼ threequarters ¾ onesuperior ¹ twosuperior ² threesuperior ³ brokenbar ¦ \
acute ´ dieresis ¨ macron ¯ cedilla ¸ circumflex ˆ tilde ˜ breve ˘ dotaccent ˙ ring ˚ hungarumlaut ˝ ogonek ˛ caron ˇ perthousand ‰ germandbls ß AE Æ ae æ OE Œ oe œ Oslash Ø oslash ø Lslash Ł lslash ł dotlessi ı Eth Ð eth ð Thorn Þ thorn þ \
Aacute Á Acircumflex Â Adieresis Ä Agrave À Aring Å Atilde Ã Ccedilla Ç Eacute É Ecircumflex Ê Edieresis Ë Egrave È Iacute Í Icircumflex Î Idieresis Ï Igrave Ì Ntilde Ñ Oacute Ó Ocircumflex Ô Odieresis Ö Ograve Ò Otilde Õ Scaron Š Uacute Ú Ucircumflex Û Udieresis Ü Ugrave Ù Yacute Ý Ydieresis Ÿ Zcaron Ž \
aacute á acircumflex â adieresis ä agrave à aring å atilde ã ccedilla ç eacute é ecircumflex ê edieresis ë egrave è iacute í icircumflex î idieresis ï igrave ì ntilde ñ oacute ó ocircumflex ô odieresis ö ograve ò otilde õ scaron š uacute ú ucircumflex û udieresis ü ugrave ù yacute ý ydieresis ÿ zcaron ž";

/// The character of a glyph's name, as the Adobe Glyph List has it. None if the name says nothing.
pub(super) fn glyph(name: &[u8]) -> Option<char> {
    let name = std::str::from_utf8(name).ok()?;
    let name = name.split_once('.').map_or(name, |(base, _)| base);
    match name {
        "space" | "nbspace" | "nonbreakingspace" => return Some(' '),
        "sfthyphen" | "softhyphen" => return Some('\u{ad}'),
        _ if name.len() == 1 => return name.chars().next().filter(char::is_ascii_alphabetic),
        _ => {}
    }
    let mut words = NAMES.split_ascii_whitespace().skip(1);
    while let (Some(known), Some(character)) = (words.next(), words.next()) {
        if known == name {
            return character.chars().next();
        }
    }
    let digits = name.strip_prefix("uni").filter(|digits| digits.len() == 4);
    let digits = digits.or_else(|| name.strip_prefix('u').filter(|digits| (4..=6).contains(&digits.len())))?;
    char::from_u32(u32::from_str_radix(digits, 16).ok()?)
}
