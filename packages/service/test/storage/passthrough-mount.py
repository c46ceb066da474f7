"""Serves the directory BACKING at MOUNT and stops answering on request, as a network storage does.

Commands on stdin, each answered by a line: `hold OPCODE...` leaves requests of these kinds unanswered (`hold` alone: all),
`answer` answers them, `held` counts them. Ends by itself 40 s after the last command, so that a blocked test fails.
"""

import ctypes, errno, os, select, signal, struct, sys

backing, mount = sys.argv[1:3]
NAMES = dict(
    LOOKUP=1, FORGET=2, GETATTR=3, SETATTR=4, READLINK=5, SYMLINK=6, MKDIR=9, UNLINK=10, RMDIR=11, RENAME=12, LINK=13,
    OPEN=14, READ=15, WRITE=16, STATFS=17, RELEASE=18, FSYNC=20, FLUSH=25, INIT=26, OPENDIR=27, READDIR=28, RELEASEDIR=29,
    CREATE=35, INTERRUPT=36, BATCH_FORGET=42,
)
SILENT = {NAMES[name] for name in ('FORGET', 'INTERRUPT', 'BATCH_FORGET')}
DIRECT_IO = 1
nodes = {1: os.open(backing, os.O_PATH)}
known = {}


def path_of(node):
    return '/proc/self/fd/%d' % nodes[node]


def pack_attributes(fd):
    s = os.stat(fd)
    times = [s.st_atime_ns, s.st_mtime_ns, s.st_ctime_ns]
    whole = [time // 10**9 for time in times]
    parts = [time % 10**9 for time in times]
    return struct.pack(
        '<6Q10I', s.st_ino, s.st_size, s.st_blocks, *whole, *parts,
        s.st_mode, s.st_nlink, s.st_uid, s.st_gid, 0, 4096, 0,
    )


def entry(parent, name):
    fd = os.open(name, os.O_PATH | os.O_NOFOLLOW, dir_fd=nodes[parent])
    s = os.stat(fd)
    # The descriptor stays open, so that the inode is not used for another file.
    node = known.setdefault((s.st_dev, s.st_ino), len(nodes) + 1)
    if node in nodes:
        os.close(fd)
    else:
        nodes[node] = fd
    return struct.pack('<4Q2I', node, 0, 0, 0, 0, 0) + pack_attributes(nodes[node])


def texts(data):
    return data.split(b'\0')


def set_attributes(node, data):
    valid, _, _, size, _, atime, mtime, _, atime_ns, mtime_ns, _, mode, _, uid, gid, _ = struct.unpack('<2I6Q8I', data[:88])
    if valid & 1:
        os.chmod(path_of(node), mode)
    if valid & 6:
        os.chown(path_of(node), uid if valid & 2 else -1, gid if valid & 4 else -1)
    if valid & 8:
        os.truncate(path_of(node), size)
    if valid & 0x30:
        os.utime(path_of(node), ns=(atime * 10**9 + atime_ns, mtime * 10**9 + mtime_ns))
    return struct.pack('<Q2I', 0, 0, 0) + pack_attributes(nodes[node])


def list_directory(node, data):
    _, offset, size = struct.unpack('<2QI', data[:20])
    result = b''
    for at, name in enumerate(os.listdir(os.fsencode(path_of(node)))[offset:], offset + 1):
        item = struct.pack('<2Q2I', 1, at, len(name), 0) + name
        item += b'\0' * (-len(item) % 8)
        if len(result) + len(item) > size:
            break
        result += item
    return result


def answer(opcode, node, data):
    fd = nodes.get(node)
    if opcode == NAMES['INIT']:
        return struct.pack('<4I2H2I2H8I', 7, 31, 0, 0, 16, 12, 131072, 1, 0, 0, *[0] * 8)
    if opcode == NAMES['LOOKUP']:
        return entry(node, texts(data)[0])
    if opcode == NAMES['GETATTR']:
        return struct.pack('<Q2I', 0, 0, 0) + pack_attributes(fd)
    if opcode == NAMES['SETATTR']:
        return set_attributes(node, data)
    if opcode == NAMES['READLINK']:
        return os.readlink(b'', dir_fd=fd)
    if opcode == NAMES['SYMLINK']:
        name, target = texts(data)[:2]
        os.symlink(target, name, dir_fd=fd)
        return entry(node, name)
    if opcode == NAMES['MKDIR']:
        name = texts(data[8:])[0]
        os.mkdir(name, struct.unpack('<I', data[:4])[0], dir_fd=fd)
        return entry(node, name)
    if opcode == NAMES['UNLINK']:
        return os.unlink(texts(data)[0], dir_fd=fd)
    if opcode == NAMES['RMDIR']:
        return os.rmdir(texts(data)[0], dir_fd=fd)
    if opcode == NAMES['RENAME']:
        old, new = texts(data[8:])[:2]
        return os.rename(old, new, src_dir_fd=fd, dst_dir_fd=nodes[struct.unpack('<Q', data[:8])[0]])
    if opcode == NAMES['LINK']:
        name = texts(data[8:])[0]
        os.link(path_of(struct.unpack('<Q', data[:8])[0]), name, dst_dir_fd=fd, follow_symlinks=True)
        return entry(node, name)
    if opcode == NAMES['OPEN']:
        flags = struct.unpack('<I', data[:4])[0] & ~(os.O_NOFOLLOW | os.O_CREAT | os.O_EXCL)
        return struct.pack('<Q2I', os.open(path_of(node), flags), DIRECT_IO, 0)
    if opcode == NAMES['CREATE']:
        flags, mode = struct.unpack('<2I', data[:8])
        name = texts(data[16:])[0]
        opened = os.open(name, flags | os.O_CREAT, mode & 0o777, dir_fd=fd)
        return entry(node, name) + struct.pack('<Q2I', opened, DIRECT_IO, 0)
    if opcode == NAMES['READ']:
        handle, offset, size = struct.unpack('<2QI', data[:20])
        return os.pread(handle, size, offset)
    if opcode == NAMES['WRITE']:
        handle, offset, size = struct.unpack('<2QI', data[:20])
        return struct.pack('<2I', os.pwrite(handle, data[40:40 + size], offset), 0)
    if opcode == NAMES['STATFS']:
        s = os.statvfs(backing)
        return struct.pack('<5Q10I', s.f_blocks, s.f_bfree, s.f_bavail, 10**6, 10**6, s.f_bsize, 255, s.f_frsize, *[0] * 7)
    if opcode == NAMES['RELEASE']:
        return os.close(struct.unpack('<Q', data[:8])[0])
    if opcode == NAMES['OPENDIR']:
        return struct.pack('<Q2I', 0, 0, 0)
    if opcode == NAMES['READDIR']:
        return list_directory(node, data)
    if opcode in (NAMES['FLUSH'], NAMES['FSYNC'], NAMES['RELEASEDIR']):
        return None
    raise OSError(errno.ENOSYS, 'unknown')


def reply(request):
    _, opcode, unique, node = struct.unpack('<2I2Q', request[:24])
    if opcode in SILENT:
        return
    try:
        error, result = 0, answer(opcode, node, request[40:]) or b''
    except OSError as failure:
        error, result = -failure.errno, b''
    try:
        os.write(fuse, struct.pack('<IiQ', 16 + len(result), error, unique) + result)
    except FileNotFoundError:
        pass  # Interrupted by its caller.


fuse = os.open('/dev/fuse', os.O_RDWR)
os.umask(0)
options = b'fd=%d,rootmode=40000,user_id=0,group_id=0' % fuse
if ctypes.CDLL(None, use_errno=True).mount(b'passthrough', mount.encode(), b'fuse', 0, options):
    sys.exit('could not mount')
print('mounted', flush=True)
kinds, held = set(), []
signal.alarm(40)
while True:
    for ready in select.select([fuse, 0], [], [])[0]:
        if ready == fuse:
            request = os.read(fuse, 1 << 20)
            opcode = struct.unpack('<I', request[4:8])[0]
            if opcode in kinds and opcode not in SILENT:
                held.append(request)
            else:
                reply(request)
            continue
        command = os.read(0, 1000).decode().split()
        signal.alarm(40)
        if not command:
            sys.exit()
        if command[0] == 'hold':
            kinds = {NAMES[name] for name in command[1:] or NAMES}
        elif command[0] == 'answer':
            kinds = set()
            for request in held:
                reply(request)
            held = []
        print(len(held), flush=True)
