/* An empty data package for ICU: header and a table of contents with no entry (ICU's "ToCP" format, version 1). */
#include <stdint.h>
__attribute__((aligned(16))) const struct {
  uint16_t header_bytes; uint8_t magic1, magic2; uint16_t info_bytes, reserved; uint8_t big_endian, charset, char_bytes, reserved2;
  uint8_t format[4], format_version[4], data_version[4]; uint8_t padding[8]; uint32_t count, reserved3;
} icudt76_dat = {32, 0xda, 0x27, 20, 0, 0, 0, 2, 0, {'T','o','C','P'}, {1,0,0,0}, {0,0,0,0}, {0}, 0, 0};
